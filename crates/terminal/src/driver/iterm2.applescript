-- Finds the session of iTerm2 on a terminal, and types into it or tells what it shows.
on run argv
	if application "iTerm2" is not running then return "missing"
	tell application "iTerm2"
		repeat with aWindow in windows
			repeat with aTab in tabs of aWindow
				repeat with aSession in sessions of aTab
					if tty of aSession is (item 1 of argv) then
						if (item 2 of argv) is "look" then return "found" & linefeed & (contents of aSession)
						tell aSession to write text (item 3 of argv) newline NO
						return "found" & linefeed
					end if
				end repeat
			end repeat
		end repeat
	end tell
	return "missing"
end run

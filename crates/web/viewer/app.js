// The live board: what every agent is doing.
const board = document.getElementById("board");
const { seats } = await (await fetch("/v1/seats")).json();
for (const seat of seats) {
  const line = document.createElement("p");
  line.textContent = `${seat.state} ${seat.agent} ${seat.project ?? ""} ${seat.prompt ?? ""}`;
  board.append(line);
}
if (seats.length === 0) board.textContent = "no agent sits anywhere";

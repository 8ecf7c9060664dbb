// Times, sizes and counts as people read them. Knows no view and no language but the page's.

// Written out, since the browser's own formats take longer to make than all else before the first row is there.
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** Milliseconds since 1970, from a number or an ISO text; `null` for neither. */
export function ms(time) {
  if (typeof time === "number") return time;
  const parsed = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(parsed) ? null : parsed;
}

/** `14:02` today, `13 Nov 14:02` before, with the year once that is another. */
export function moment(time) {
  const at = ms(time);
  if (at === null) return "";
  const date = new Date(at),
    now = new Date();
  if (date.toDateString() === now.toDateString()) return clock(date);
  const year = date.getFullYear() === now.getFullYear() ? "" : ` ${date.getFullYear()}`;
  return `${dayOfYear(date)}${year} ${clock(date)}`;
}

export function day(time) {
  const at = ms(time);
  if (at === null) return "";
  const date = new Date(at);
  return `${DAYS[date.getDay()]} ${date.getDate()} ${MONTHS[date.getMonth()]} ${date.getFullYear()}`;
}

export function shortDay(time) {
  const at = ms(time);
  return at === null ? "" : dayOfYear(new Date(at));
}

/** `now`, `5 min`, `3 h`, `2 d`: how long ago. */
export function ago(time) {
  const at = ms(time);
  if (at === null) return "";
  const minutes = Math.floor((Date.now() - at) / 60000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / 1440)} d`;
}

/** A running timer: `0:07`, `12:30`, `3:02:11`, `2 d 4 h`. */
export function timer(elapsedMs) {
  const seconds = Math.max(0, Math.floor(elapsedMs / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  return hours ? `${hours}:${padded(minutes)}:${padded(seconds % 60)}` : `${minutes}:${padded(seconds % 60)}`;
}

/** A length of time in words: `40 s`, `12 min`, `3 h 5 min`. */
export function length(durationMs) {
  const minutes = Math.round(durationMs / 60000);
  if (durationMs < 60000) return `${Math.round(durationMs / 1000)} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `1,234`. */
export function count(number) {
  return grouped(String(Math.round(number ?? 0)));
}

/** `812`, `12.4 k`, `1.20 M`. */
export function short(number) {
  const value = number ?? 0;
  if (value < 1000) return String(Math.round(value));
  if (value < 1e6) return `${(value / 1e3).toFixed(value < 1e5 ? 1 : 0)} k`;
  if (value < 1e9) return `${(value / 1e6).toFixed(value < 1e7 ? 2 : 1)} M`;
  return `${(value / 1e9).toFixed(2)} G`;
}

export function bytes(number) {
  const value = number ?? 0;
  if (value < 1000) return `${value} B`;
  return value < 1e6 ? `${(value / 1e3).toFixed(1)} kB` : `${(value / 1e6).toFixed(1)} MB`;
}

export function cost(dollars) {
  const [whole, cents] = (dollars ?? 0).toFixed(2).split(".");
  return `$${grouped(whole)}.${cents}`;
}

/** `1 turn`, `2 turns`. */
export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

function clock(date) {
  return `${padded(date.getHours())}:${padded(date.getMinutes())}`;
}

function dayOfYear(date) {
  return `${date.getDate()} ${MONTHS[date.getMonth()].slice(0, 3)}`;
}

function padded(number) {
  return String(number).padStart(2, "0");
}

/** Digits by three. */
function grouped(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

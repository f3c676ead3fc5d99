// Numbers and ages as people read them; dashboard/formats.py writes the same for still pages.
// Revisions are never formatted, and never numbers: they may exceed 2^53.

export function count(value) {
  return value === null || value === undefined || value === "" ? "" : Number(value).toLocaleString("en-US");
}

// Half up: Python and JavaScript round halves each in their own way.
function fixed(value, digits) {
  const scale = 10 ** digits;
  return (Math.floor(value * scale + 0.5) / scale).toFixed(digits);
}

export function rate(value) {
  if (value === null || value === undefined || value === "") return "";
  if (value === 0) return "0";
  return value < 9.95 ? fixed(value, 1) : count(Math.round(value));
}

export function ms(value) {
  if (value === null || value === undefined || value === "") return "";
  if (value < 0.0005) return "0";
  if (value < 9.95) return `${fixed(value, value < 0.995 ? 2 : 1)} ms`;
  if (value < 999.5) return `${Math.round(value)} ms`;
  if (value < 120000) return `${fixed(value / 1000, 1)} s`;
  return age(value / 1000);
}

export function size(value) {
  if (value === null || value === undefined || value === "") return "";
  if (value < 1024) return `${value} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let scaled = value;
  let unit = -1;
  do {
    scaled /= 1024;
    unit += 1;
  } while (scaled >= 1023.95 && unit < units.length - 1);
  return `${scaled < 9.95 ? fixed(scaled, 1) : Math.round(scaled)} ${units[unit]}`;
}

// kubectl's short form (apimachinery's duration.HumanDuration).
export function age(seconds) {
  const s = Math.trunc(seconds);
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  if (s < 120) return `${s}s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 10) return s % 60 ? `${minutes}m${s % 60}s` : `${minutes}m`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 ? `${hours}h${minutes % 60}m` : `${hours}h`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return hours % 24 ? `${days}d${hours % 24}h` : `${days}d`;
  if (days < 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  if (days < 365 * 8) return days % 365 ? `${years}y${days % 365}d` : `${years}y`;
  return `${years}y`;
}

// How many revisions lie between two, exactly, as text.
export function revisionsBetween(earlier, later) {
  try {
    return (BigInt(later) - BigInt(earlier)).toString();
  } catch {
    return "";
  }
}

export const formats = { count, rate, ms, bytes: size };

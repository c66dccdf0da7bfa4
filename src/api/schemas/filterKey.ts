/** A whole number or a decimal, as filters have amounts. */
const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/**
 * Filters that mean the same have the same key, so a frame is made once for all their clients. The
 * order of fields does not count, nor whether an amount is "5", "5.0" or "05".
 */
export function filterKey(filter: object): string {
  const fields = Object.entries(filter).filter(([, value]) => value !== undefined);
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(sorted.map(([name, value]) => [name, normalOf(value)]));
}

function normalOf(value: unknown): unknown {
  const [, whole, fraction = ''] = typeof value === 'string' ? (DECIMAL.exec(value) ?? []) : [];
  if (whole === undefined) return value;
  const digits = [whole.replace(/^0+(?=\d)/, ''), fraction.replace(/0+$/, '')];
  return digits.filter((part) => part !== '').join('.');
}

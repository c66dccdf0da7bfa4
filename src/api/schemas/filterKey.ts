/** A whole number or a decimal, as filters have amounts. */
const DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/**
 * One text for all filters that mean the same, so that their clients share what is made for one of
 * them: fields in any order, amounts as "5", "5.0" or "05". Absent fields are left out.
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

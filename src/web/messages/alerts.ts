/** English of price alerts. */
const reached = (words: string) => (ticker: string, price: string, now: string) =>
  `${ticker} is ${words} ${price} ADA: it is at ${now}.`;

export const ALERTS = {
  title: 'Price alert',
  set: (ticker: string) => `Price alert for ${ticker}`,
  confirm: 'Set the alert',
  when: 'When the price is',
  directions: { above: 'At or above', below: 'At or below' },
  price: 'Price of a token',
  hint: 'It is watched while this page is open in a tab, and kept in this browser.',
  noPrice: 'Enter a price above 0, as 0.0000123.',
  isSet: 'The alert is set. You are notified while this page is open.',
  isSetHere: 'The alert is set. It is said on this page: the browser may not notify you.',
  list: 'Alerts of this token',
  remove: 'Remove',
  removeOne: (price: string) => `Remove the alert at ${price} ADA`,
  reached: { above: reached('at or above'), below: reached('at or below') },
};

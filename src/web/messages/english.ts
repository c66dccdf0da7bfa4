/** English, and with it the shape of every other language. */
export const ENGLISH = {
  about: {
    title: 'About',
    none: 'No description.',
    launched: 'Launched',
    kind: 'Kind',
    hyped: (kind: string) => `${kind}, hyped`,
    author: 'Author',
    unknownAuthor: 'unknown',
  },
};

export type Messages = typeof ENGLISH;

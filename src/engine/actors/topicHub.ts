/** What the fold tells the streams after each batch. */
export interface TopicHub {
  /** The applied position moved; `tags` name the streams that changed. Called once per batch. */
  applied(tags: Iterable<string>): void;
  /** The log is another one now: every subscription gets Resync and a snapshot. */
  epochChanged(): void;
}

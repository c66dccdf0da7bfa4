// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.

export interface CreateWebhookBody {
  /**
   * Where frames are sent to, by https: an address of the public internet, port 443, 80 or
   * one from 1024 on.
   */
  readonly url: string;
  /** 1 to 20 of them, as in a subscription. */
  readonly topics: readonly {
    /** A topic of the socket, but for Health. */
    readonly topic: string;
    /** As the topic takes it. */
    readonly data?: unknown;
    /** Names the topic in its frames; its index where it is left out. */
    readonly requestId?: string | number;
    /** Begin after this position, without a snapshot. */
    readonly since?: {
      readonly epoch: string;
      readonly seq: number;
    };
    /** false: begin with what changes. */
    readonly snapshot?: boolean;
    /** Deliveries a second, rounded down to 1 2 5 10 20. */
    readonly maxHz?: number;
  }[];
  readonly secret?: string | null;
}

export interface CreateWebhookAnswer {
  readonly id: string;
  /** Keep it: it is never shown again. */
  readonly secret: string;
}

export type WebhooksAnswer = readonly WebhookAnswer[];

export interface WebhookAnswer {
  readonly id: string;
  readonly url: string;
  readonly topics: readonly {
    /** A topic of the socket, but for Health. */
    readonly topic: string;
    /** As the topic takes it. */
    readonly data?: unknown;
    /** Names the topic in its frames; its index where it is left out. */
    readonly requestId?: string | number;
    /** Begin after this position, without a snapshot. */
    readonly since?: {
      readonly epoch: string;
      readonly seq: number;
    };
    /** false: begin with what changes. */
    readonly snapshot?: boolean;
    /** Deliveries a second, rounded down to 1 2 5 10 20. */
    readonly maxHz?: number;
  }[];
  /** failing: tried again at `nextTryAt`; stopped: it failed for a day, and nothing is sent. */
  readonly state: 'active' | 'failing' | 'stopped';
  /** Up to where the receiver has everything; null: nothing was delivered yet. */
  readonly position: {
    readonly epoch: string;
    readonly seq: number;
  } | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Time of the last delivery that was accepted. */
  readonly deliveredAt: number | null;
  /** Attempts that failed since then. */
  readonly failures: number;
  readonly nextTryAt: number | null;
  readonly lastError: {
    readonly at: number;
    readonly message: string;
  } | null;
}

export interface DeleteWebhookAnswer {
  readonly id: string;
}

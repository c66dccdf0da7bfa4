/**
 * Webhooks: an address of a program, and which topics it wants. They are kept with the log: in a
 * file beside it, or in NATS where several nodes share it.
 * Contract suite: test/contracts/webhooks.ts.
 *
 * Guarantees of a store:
 * - `add`, `remove` and `save` are acknowledged only when the change survives a crash.
 * - `save` takes effect only where no other node saved or removed the webhook since `version` was
 *   read, so a node that no longer leads changes nothing.
 *
 * Errors: NOT_READY where the store does not answer or has no room, SERVER_ERROR where it is
 * damaged; whether the change took effect is unknown then, and the same call may be tried again.
 */
import type { Failure } from '../../engine/runtime/errors.ts';
import type { Position } from '../../engine/runtime/position.ts';

/** One subscription, as the client sent it. */
export interface WebhookTopic {
  readonly topic: string;
  readonly data?: unknown;
  readonly requestId: string | number;
  readonly since?: Position;
  readonly snapshot: boolean;
  readonly maxHz?: number;
}

/** As it was registered; it never changes. */
export interface Webhook {
  readonly id: string;
  /** Name of the API key that it belongs to. */
  readonly owner: string;
  readonly url: string;
  /** Signs each body. */
  readonly secret: string;
  readonly topics: readonly WebhookTopic[];
  readonly createdMs: number;
}

/** Where one subscription of a webhook stands. */
export interface Mark {
  /** The receiver has everything up to here. */
  readonly seq: number;
  /** `seq` of the last frame that it got. */
  readonly prev: number | null;
}

/** How far deliveries of a webhook got. */
export interface Progress {
  /** Epoch of the marks; null: nothing was delivered yet. */
  readonly epoch: string | null;
  /** In the order of the topics; null: that one begins with a snapshot. */
  readonly marks: readonly (Mark | null)[];
  /** Attempts that failed since the last delivery. */
  readonly failures: number;
  readonly failingSinceMs: number | null;
  readonly nextTryMs: number | null;
  readonly lastError: { readonly atMs: number; readonly message: string } | null;
  readonly deliveredMs: number | null;
  /** It failed for too long: nothing is sent any more. */
  readonly isStopped: boolean;
}

export interface StoredWebhook {
  readonly webhook: Webhook;
  readonly progress: Progress;
  readonly version: number;
}

export interface WebhookStore {
  all(): Promise<readonly StoredWebhook[] | Failure>;
  /** The webhooks of one API key, by the key's name. Costs in proportion to the number found. */
  ownedBy(owner: string): Promise<readonly StoredWebhook[] | Failure>;
  add(webhook: Webhook, progress: Progress): Promise<Failure | null>;
  /** A webhook that is gone already is no failure. */
  remove(webhook: Pick<Webhook, 'id' | 'owner'>): Promise<Failure | null>;
  /** The new version; `outdated`: another node saved or removed it since `version`. */
  save(stored: StoredWebhook): Promise<number | 'outdated' | Failure>;
  /**
   * Calls `listener` after webhooks of `owner` were added or removed, by any node; most often,
   * since a message between nodes may be lost. Returns a function that ends it.
   */
  onChange(listener: (owner: string) => void): () => void;
  close(): void;
}

export function newProgress(topics: readonly WebhookTopic[]): Progress {
  return {
    epoch: null,
    marks: topics.map(() => null),
    failures: 0,
    failingSinceMs: null,
    nextTryMs: null,
    lastError: null,
    deliveredMs: null,
    isStopped: false,
  };
}

/**
 * The least of the marks: the receiver has the frames of all its topics up to that position; null:
 * nothing yet.
 */
export function positionOf({ epoch, marks }: Progress): Position | null {
  const seqs = marks.map((mark) => mark?.seq ?? Number.NaN);
  const seq = Math.min(...seqs);
  return epoch === null || Number.isNaN(seq) ? null : { epoch, seq };
}

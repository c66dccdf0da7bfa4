/**
 * Limits on what people enter and what the page asks for, each once: for the server, the page, the
 * command line, the tools of agents, and the devnet. A form and the server that checks it again
 * cannot differ. Source: protocol.md sections 2, 3, 5 and 9.1. Browsers load this too.
 */

/** Characters of a token's name, spaces at its ends not counted. */
export const MAX_NAME_CHARACTERS = 16;
/** Bytes of the name as UTF-8: an asset name on the chain holds no more. */
export const MAX_NAME_BYTES = 32;
/** Characters of a name as it is sent, before spaces at its ends are removed. */
export const MAX_SENT_NAME_CHARACTERS = 200;
export const MAX_TICKER_CHARACTERS = 6;
export const TICKER = new RegExp(`^[A-Za-z0-9]{1,${MAX_TICKER_CHARACTERS}}$`);
/** Code points of a launch's description. */
export const MAX_DESCRIPTION_CHARACTERS = 500;
/** Bytes of a token's picture. */
export const MAX_IMAGE_BYTES = 5 * 1_048_576;
/** Pixels of each side of a token's picture. */
export const MAX_IMAGE_PIXELS = 4_096;

/** Code points of a search text. */
export const MAX_SEARCH_CHARACTERS = 128;
/** Tokens that one call may name. */
export const MAX_NAMED_TOKENS = 1_000;
/** Tokens that one subscription to tickers may name: as many as a watchlist of the page has. */
export const MAX_FOLLOWED_TOKENS = 500;
/** Tickers of a sorted list that has a topic. */
export const MAX_LISTED_TICKERS = 100;

/** Stages of a lock: one transaction makes an output for each. */
export const MAX_STAGES = 10;
/** Unix ms; the last moment that a JavaScript date can name. */
export const LAST_DATE_MS = 8_640_000_000_000_000;

/** The longest lease that a node can be given (`LEASE_MS`). */
export const MAX_LEASE_MS = 60_000;
/** A limit order waits at least and at most so long for its price. */
export const MIN_WAIT_SECONDS = 600;
export const MAX_WAIT_SECONDS = 2_592_000;

/** A devnet's faucet gives at most this at once. */
export const MAX_FAUCET_ADA = 10_000;
/** A devnet's faucet gives this where the request states no amount. */
export const FAUCET_ADA = 1_000;
/** Blocks that a devnet undoes or makes at once: as many as a fork can undo on mainnet. */
export const MAX_FORK_BLOCKS = 2_160;

import type { Queries, Transaction } from '../database/database.ts';

/** A user who makes a request, with the limits of their credential and the origin of the request. */
export interface Caller {
  userId: string;
  /** Limits that the API credential puts on the user's rights; null: no limits. */
  limits: CallerLimits | null;
  origin: Origin;
  /** The operator at the command line: an owner of every account. Never set for requests from the network. */
  isOperator?: true;
  /** Begins each transaction of {@link changeFor}: claims the `Idempotency-Key` of the request and checks its `If-Match`. */
  begin?: (transaction: Transaction) => Promise<void>;
  /** The transaction that checks `If-Match`. {@link readerFor} and {@link readFor} read in it. */
  within?: Queries;
}

/**
 * Whether a membership counts before its invitation is accepted. It counts for the API, since programs cannot open
 * mails. It does not count in the portal: the user can accept there, and an account's second-factor requirement starts
 * when they do.
 */
export function countsOpenInvitations({ origin }: Caller): boolean {
  return origin.means !== 'portal';
}

/** Limits on a user's rights. A credential never has more rights than its user. */
export interface CallerLimits {
  /** Permits no changes, and shows no private keys. */
  readOnly: boolean;
  /** The only account that the credential reaches; null: every account of the user. */
  accountId: string | null;
  /** The installs of that account that the credential reaches, with a partial user's rights; null: all that the user sees. */
  installIds: readonly string[] | null;
}

/** The source of a request or change, for the activity log. */
export interface Origin {
  means: 'api' | 'portal' | 'command_line' | 'platform';
  /** The API username. */
  credentialId: string | null;
  /** The client's IP address; null for the command line and the platform. */
  address: string | null;
  /** The id of the HTTP request, or the name of the command. */
  requestId: string | null;
}

const AT_COMMAND_LINE: Origin = {
  means: 'command_line',
  credentialId: null,
  address: null,
  requestId: null,
};

/** The operator at the command line, acting for no user. */
export const OPERATOR: { userId: null; origin: Origin } = { userId: null, origin: AT_COMMAND_LINE };

/** The operator at the command line as a caller of routes: an owner of every account. No user has this id, so nothing is stored as theirs. */
export const OPERATOR_CALLER: Caller = {
  userId: '00000000-0000-0000-0000-000000000000',
  limits: null,
  origin: AT_COMMAND_LINE,
  isOperator: true,
};

/** The user whom a row names as the one who asked for it; null for the operator and for Homeport itself. */
export function storedUserOf(actor: { userId: string | null; isOperator?: true }): string | null {
  return actor.isOperator ? null : actor.userId;
}

/** Homeport itself, for scheduled work. */
export const PLATFORM: { userId: null; origin: Origin } = {
  userId: null,
  origin: { means: 'platform', credentialId: null, address: null, requestId: null },
};

/** The operator at the command line, acting for a user. */
export function operatorFor(userId: string): Caller {
  return { userId, limits: null, origin: AT_COMMAND_LINE };
}

/** The request of a portal session, for the activity log. */
export interface RequestOrigin {
  address: string;
  requestId: string;
}

/** A portal request with the token that may identify its browser as a known device. */
export interface BrowserOrigin extends RequestOrigin {
  device: string | null;
}

/** A user of the portal, who may not have finished signing in. */
export function portalCaller(userId: string, { address, requestId }: RequestOrigin): Caller {
  return { userId, limits: null, origin: { means: 'portal', credentialId: null, address, requestId } };
}

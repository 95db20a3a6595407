/** Whoever asks for something: as whom, how they came, and what narrows their rights. */
export interface Caller {
  userId: string;
  /** What a credential leaves of its person's rights; null: all of them. */
  limits: CallerLimits | null;
  origin: Origin;
}

/**
 * Whether a membership counts for the caller before its invitation is accepted. To the API it does: who invited has decided, and
 * no program opens mails. In the portal somebody is there who can accept, and an account's demand of a second factor begins
 * with that.
 */
export function countsOpenInvitations({ origin }: Caller): boolean {
  return origin.means !== 'portal';
}

/** Rights narrower than the person's own. Never wider: what the person loses, the credential loses. */
export interface CallerLimits {
  /** Changes nothing, and sees no private key. */
  readOnly: boolean;
  /** The one account that is seen; null: every account of the person. */
  accountId: string | null;
  /** The installs of that account that are seen, as by a partial user; null: all that the person sees. */
  installIds: readonly string[] | null;
}

/** By what way a change came, for the activity log. */
export interface Origin {
  means: 'api' | 'portal' | 'command_line' | 'platform';
  /** The API username. */
  credentialId: string | null;
  /** The client's address; null where there is none (the command line). */
  address: string | null;
  /** The request that asks, or a word for what does. */
  requestId: string | null;
}

const AT_COMMAND_LINE: Origin = {
  means: 'command_line',
  credentialId: null,
  address: null,
  requestId: null,
};

/** Whoever works at the command line, on nobody's behalf. */
export const OPERATOR: { userId: null; origin: Origin } = { userId: null, origin: AT_COMMAND_LINE };

/** The platform, which does on its own what is due. */
export const PLATFORM: { userId: null; origin: Origin } = {
  userId: null,
  origin: { means: 'platform', credentialId: null, address: null, requestId: null },
};

/** Somebody on whose behalf the operator acts, by the command line. */
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

/** A domain's claim to a name. Several installs can have the same name, but only one serves it. */
export interface Claim {
  id: string;
  install_id: string;
  account_id: string;
  /** Whether it serves the name now. */
  serves: boolean;
  needs_proof: boolean;
  /** Whether the account has verified the domain. */
  verified: boolean;
}

/** The changes that let the right claim serve a name. */
export interface Assignment {
  /** Serves the name from now on; undefined if nothing changes. */
  gains: Claim | undefined;
  /** Served the name until now. */
  loses: Claim | undefined;
  /** Claims that must be verified from now on. Includes `loses` if it must. */
  needProof: Claim[];
  /** Claims that no longer need verification, without `gains`. */
  freed: Claim[];
}

/**
 * Decides which claim serves a name. Accounts that have verified the domain come first. Otherwise the serving claim keeps
 * the name, and a free name goes to the oldest claim that needs no verification. `claims` are sorted, oldest first.
 */
export function assignName(claims: readonly Claim[]): Assignment {
  const serving = claims.find(({ serves }) => serves);
  const proven = serving?.verified ? serving : claims.find((claim) => claim.verified);
  const holder = proven ?? serving ?? claims.find((claim) => !claim.needs_proof);
  const mustProve = ({ account_id, verified: isProven, needs_proof }: Claim) =>
    !isProven && (holder === undefined ? needs_proof : account_id !== holder.account_id);
  const others = claims.filter((claim) => claim !== holder);
  return {
    gains: holder === serving ? undefined : holder,
    loses: holder === serving ? undefined : serving,
    needProof: others.filter((claim) => mustProve(claim) && !claim.needs_proof),
    freed: others.filter((claim) => !mustProve(claim) && claim.needs_proof),
  };
}

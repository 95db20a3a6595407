/** A domain row of one name, as far as it matters for who serves the name. */
export interface Claim {
  id: string;
  install_id: string;
  account_id: string;
  /** Whether it serves the name now. */
  serves: boolean;
  needs_proof: boolean;
  /** The account has proved that it owns the domain. */
  verified: boolean;
}

/** The changes that let the right claim serve a name. */
export interface Assignment {
  /** Serves the name from now on; undefined if nothing changes. */
  gains: Claim | undefined;
  /** Served the name until now. */
  loses: Claim | undefined;
  /** All that need proof now and did not before; `loses` among them if it does. */
  needProof: Claim[];
  /** All that needed proof and no longer do, without `gains`. */
  freed: Claim[];
}

/**
 * Decides which claim on a name serves it. Accounts that have proved the domain come first. Otherwise the present claim keeps the
 * name, and a free name goes to the first claim that needs no proof. `claims` are sorted, oldest first.
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

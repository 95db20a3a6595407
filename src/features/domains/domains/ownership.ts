import { isWithin } from '../../../network/dns/domain-name.ts';
import { hostOf, isWildcard, registrableDomainOf } from './domain-name.ts';

/** For so long a name that an account gave up is given to no other account without proof. */
export const HOLD_DAYS = 30;

/** The registrable domain that decides who owns a name; the name itself if it has none, as `localhost`. */
export function ownershipDomainOf(name: string): string {
  return registrableDomainOf(name) ?? hostOf(name);
}

/** The TXT record that proves a registrable domain. */
export function challengeOf(registrable: string, token: string): { key: string; value: string } {
  return { key: `_homeport-challenge.${registrable}`, value: `homeport-verification=${token}` };
}

/** Whether the TXT records of the challenge's name prove a token. People paste with quotes and spaces around. */
export function matchesChallenge(texts: readonly string[], registrable: string, token: string): boolean {
  const { value } = challengeOf(registrable, token);
  return texts.some((text) => text.replace(/^[\s"]+|[\s"]+$/g, '') === value);
}

/**
 * The names whose holders decide whether another account may serve `name` without proof: the name itself, those above it up to
 * the registrable domain, and wildcards of all these.
 */
export function namesAbove(name: string): string[] {
  const registrable = ownershipDomainOf(name);
  const names: string[] = [];
  for (let host = hostOf(name); isWithin(host, registrable); host = host.slice(host.indexOf('.') + 1)) {
    names.push(host, `*.${host}`);
    if (!host.includes('.')) break;
  }
  return names;
}

/** The ending of all names below a wildcard; null if the name is not a wildcard. */
export function endingBelow(name: string): string | null {
  return isWildcard(name) ? name.slice('*'.length) : null;
}

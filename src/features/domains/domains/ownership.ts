import { isWithin } from '../../../network/dns/domain-name.ts';
import { hostOf, isWildcard, registrableDomainOf } from './domain-name.ts';

/** For this long, other accounts must verify a released name before they serve it. */
export const HOLD_DAYS = 30;

/** The registrable domain that decides who owns a name, or the name itself if it has none, like `localhost`. */
export function ownershipDomainOf(name: string): string {
  return registrableDomainOf(name) ?? hostOf(name);
}

/** The TXT record that verifies a registrable domain. */
export function challengeOf(registrable: string, token: string): { key: string; value: string } {
  return { key: `_homeport-challenge.${registrable}`, value: `homeport-verification=${token}` };
}

/** Whether the TXT records contain the challenge's value. Quotes and spaces around it are ignored, as people paste them. */
export function matchesChallenge(texts: readonly string[], registrable: string, token: string): boolean {
  const { value } = challengeOf(registrable, token);
  return texts.some((text) => text.replace(/^[\s"]+|[\s"]+$/g, '') === value);
}

/**
 * The names whose use by another account makes verification of `name` necessary: the name itself, the names above it up to
 * the registrable domain, and the wildcards of all these.
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

/** The suffix of all names below a wildcard; null if the name is not a wildcard. */
export function endingBelow(name: string): string | null {
  return isWildcard(name) ? name.slice('*'.length) : null;
}

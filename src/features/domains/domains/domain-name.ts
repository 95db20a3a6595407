import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';
import { HOST_NAME, MAX_HOST_NAME } from '../../../lib/host-names.ts';
import { isWithin } from '../../../network/dns/domain-name.ts';

/** Why a text is no name that an install can have, with the sentence for the person who sent it (gaps section 5). */
export interface DomainNameFault {
  code: 'invalid_format' | 'ip_address' | 'public_suffix' | 'reserved';
  message: string;
}

/** Host names that are the platform's own. */
export interface PlatformNames {
  /** Below it the platform names installs. */
  siteDomain: string;
  /** Where people open the portal. */
  portalHost: string;
  /** By which people reach the machines. */
  hostNames?: readonly string[];
}

export type DomainNameResult = { ok: true; name: string } | { ok: false; fault: DomainNameFault };

const HOST = new RegExp(`^${HOST_NAME}$`);
/**
 * Last labels of names that the DNS never has, so that no visitor can come by them (RFC 6761 sections 6.3 and 6.4, RFC 7686,
 * RFC 9476). Names that a network may have for itself, as those of `.local`, `.internal` and `.test`, are not among them.
 */
const OUTSIDE_DNS = ['alt', 'invalid', 'localhost', 'onion'];
/** What the reading of a host name as a part of a URL would cut off, decode or leave out. */
const FOREIGN = /(?![A-Za-z0-9.-])\p{ASCII}/u;

/**
 * The form in which a host name is stored and compared: IDNA to ASCII, lower case, no final dot; `*.` before it stands
 * for one label. Refuses addresses, public suffixes (nobody owns them), names that the DNS cannot have, and the platform's own
 * names with all above and below them. Cookies know neither ports nor, for names below, borders: a website there could read or
 * set those of the portal.
 */
export function parseDomainName(text: string, platformNames: PlatformNames): DomainNameResult {
  const { siteDomain, portalHost } = platformNames;
  const trimmed = text.trim().replace(/\.$/, '');
  const wildcard = trimmed.startsWith('*.');
  const given = wildcard ? trimmed.slice(2) : trimmed;
  const host = FOREIGN.test(given) ? '' : domainToASCII(given).toLowerCase();
  const name = wildcard ? `*.${host}` : host;

  if (parse(trimmed).isIp === true || parse(host).isIp === true) {
    return refuse('ip_address', 'Domain name must be a host name, not an IP address');
  }
  if (name.length > MAX_HOST_NAME || !isHostName(host)) {
    return refuse('invalid_format', 'Domain name must be a host name like www.example.com or *.example.com');
  }
  if (host === siteDomain || host.endsWith(`.${siteDomain}`)) {
    return refuse('reserved', `Names under ${siteDomain} are given by the platform`);
  }
  if (name === portalHost) {
    return refuse('reserved', `${name} is the address of this portal; no website can have it`);
  }
  if (covers(name, portalHost)) {
    return refuse(
      'reserved',
      `${name} covers ${portalHost}, the address of this portal; add the names that you need one by one`,
    );
  }
  const isSuffix = registrableDomainOf(host) === null;
  const own = isSuffix ? undefined : ownRelative(host, platformNames);
  if (own !== undefined) {
    const relation = name === own ? '' : `${isWithin(host, own) ? 'below' : 'above'} ${own}, `;
    return refuse('reserved', `${name} is ${relation}a name of this platform; no website can have it`);
  }
  if (isSuffix) {
    return refuse('public_suffix', `${host} is a public suffix; a domain is at least one label longer`);
  }
  const last = host.slice(host.lastIndexOf('.') + 1);
  if (OUTSIDE_DNS.includes(last)) {
    return refuse('reserved', `Names under ${last} are reserved: no visitor can look one up`);
  }
  return { ok: true, name };
}

/**
 * The part of a name that somebody can register, and whose owner decides on all below it; null if the name is a public suffix.
 * Private suffixes (`github.io`) count: the names below them have owners of their own.
 */
export function registrableDomainOf(name: string): string | null {
  return parse(hostOf(name), { allowPrivateDomains: true }).domain;
}

/** The name without `*.`. */
export function hostOf(name: string): string {
  return isWildcard(name) ? name.slice('*.'.length) : name;
}

/** Whether a name stands for many. */
export function isWildcard(name: string): boolean {
  return name.startsWith('*.');
}

/** The name with `www.` for one without, and the other way round: most people take the two for one, so they are looked at together. */
export function siblingOf(name: string): string {
  return name.startsWith('www.') ? name.slice('www.'.length) : `www.${name}`;
}

/** Whether a name is that of a host, or a wildcard that stands for it among others. */
export function covers(name: string, host: string): boolean {
  if (!isWildcard(name)) return name === host;
  const firstDot = host.indexOf('.');
  return firstDot > 0 && host.slice(firstDot) === name.slice('*'.length);
}

/** The platform's own name that is the host, above or below it; undefined if none is. */
function ownRelative(
  host: string,
  { siteDomain, portalHost, hostNames = [] }: PlatformNames,
): string | undefined {
  return [siteDomain, portalHost, ...hostNames].find((own) => isWithin(host, own) || isWithin(own, host));
}

/** Whether every label is one that hosts have; one that begins with `xn--` must be the encoding of something (RFC 5891). */
function isHostName(host: string): boolean {
  return (
    HOST.test(host) &&
    !domainToUnicode(host)
      .split('.')
      .some((label) => label.startsWith('xn--'))
  );
}

function refuse(code: DomainNameFault['code'], message: string): DomainNameResult {
  return { ok: false, fault: { code, message } };
}

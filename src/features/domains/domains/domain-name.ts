import { domainToUnicode } from 'node:url';
import { asciiHost } from '../../../lib/ascii-host.ts';
import { HOST_NAME, MAX_HOST_NAME } from '../../../lib/host-names.ts';
import { parse } from '../../../lib/public-suffixes.ts';
import { isWithin } from '../../../network/dns/domain-name.ts';

/** Why a text is not a valid domain name, with a sentence for the user (docs/api.md, Domains). */
export interface DomainNameFault {
  code: 'invalid_format' | 'ip_address' | 'public_suffix' | 'reserved';
  message: string;
}

/** Host names of the platform itself. */
export interface PlatformNames {
  /** Parent of all default domains. */
  siteDomain: string;
  /** Host name of the portal. */
  portalHost: string;
  /** Public names of the hosts. */
  hostNames?: readonly string[];
}

export type DomainNameResult = { ok: true; name: string } | { ok: false; fault: DomainNameFault };

const HOST = new RegExp(`^${HOST_NAME}$`);
/**
 * Top-level labels that never resolve in the DNS (RFC 6761 sections 6.3 and 6.4, RFC 7686, RFC 9476). Labels that a
 * private network may use, such as `.local`, `.internal` and `.test`, are allowed.
 */
const OUTSIDE_DNS = ['alt', 'invalid', 'localhost', 'onion'];

/**
 * Parses a domain name into the form in which it is stored and compared: IDNA as ASCII, lower case, no final dot. A leading
 * `*.` matches one label. Refuses addresses, public suffixes, names that cannot resolve, and the platform's names with all
 * names above and below them. Cookies are shared with those, so a website there could read or set the portal's.
 */
export function parseDomainName(text: string, platformNames: PlatformNames): DomainNameResult {
  const { siteDomain, portalHost } = platformNames;
  const trimmed = text.trim().replace(/\.$/, '');
  const wildcard = trimmed.startsWith('*.');
  const given = wildcard ? trimmed.slice(2) : trimmed;
  const host = asciiHost(given);
  const name = wildcard ? `*.${host}` : host;

  const mistake = mistakeIn(trimmed);
  if (mistake !== null) return refuse('invalid_format', mistake);
  if (parse(trimmed).isIp === true || parse(host).isIp === true) {
    return refuse('ip_address', 'Domain name must be a host name, not an IP address');
  }
  if (name.length > MAX_HOST_NAME || !isHostName(host)) {
    return refuse('invalid_format', 'Domain name must be a host name like www.example.com or *.example.com');
  }
  if (host === siteDomain || host.endsWith(`.${siteDomain}`)) {
    return refuse('reserved', `Names under ${siteDomain} are assigned by the platform`);
  }
  if (name === portalHost) {
    return refuse('reserved', `${name} is the address of this portal; no website can use it`);
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
    return refuse('reserved', `${name} is ${relation}a name of this platform; no website can use it`);
  }
  if (isSuffix && parse(host).isIcann !== true && !host.includes('.')) {
    return refuse('public_suffix', `${host} is not a whole name; add its domain, as in ${host}.example.com`);
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
 * The registrable part of a name, whose owner controls all names below it; null if the name is a public suffix. Private
 * suffixes (`github.io`) count as public suffixes, because names below them have different owners.
 */
export function registrableDomainOf(name: string): string | null {
  return parse(hostOf(name), { allowPrivateDomains: true }).domain;
}

/** The name without `*.`. */
export function hostOf(name: string): string {
  return isWildcard(name) ? name.slice('*.'.length) : name;
}

/** Whether a name is a wildcard. */
export function isWildcard(name: string): boolean {
  return name.startsWith('*.');
}

/** The name with `www.` added or removed. Most people treat the two as one, so reports cover both. */
export function siblingOf(name: string): string {
  return name.startsWith('www.') ? name.slice('www.'.length) : `www.${name}`;
}

/** Whether a name equals a host name, or is a wildcard that matches it. */
export function covers(name: string, host: string): boolean {
  if (!isWildcard(name)) return name === host;
  const firstDot = host.indexOf('.');
  return firstDot > 0 && host.slice(firstDot) === name.slice('*'.length);
}

/** What to do about a text that is near to a name: a URL, an address of email, or a name with an underscore. Null for other texts. */
function mistakeIn(text: string): string | null {
  const host = /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?:[^/@]*@)?([^/:?#]+)/i.exec(text)?.[1];
  if (host !== undefined) return `Domain name must be the name alone, without a protocol and a path: ${host}`;
  const [beforeSlash = ''] = text.split('/');
  if (beforeSlash !== text && beforeSlash !== '')
    return `Domain name must be the name alone, without a path: ${beforeSlash}`;
  if (/^[^:]+:\d+$/.test(text)) return 'Domain name must be the name alone, without a port';
  if (text.includes('@')) return 'Domain name must be what follows the @ of an email address';
  return text.includes('_')
    ? 'Domain name must not contain an underscore; names of websites cannot have one'
    : null;
}

/** The platform's name that equals the host, or is above or below it; undefined if there is none. */
function ownRelative(
  host: string,
  { siteDomain, portalHost, hostNames = [] }: PlatformNames,
): string | undefined {
  return [siteDomain, portalHost, ...hostNames].find((own) => isWithin(host, own) || isWithin(own, host));
}

/**
 * Whether a text is a host name. A label that begins with `xn--` must decode to Unicode (RFC 5891). No top-level label has a single
 * character.
 */
function isHostName(host: string): boolean {
  return (
    HOST.test(host) &&
    !/(^|\.).$/.test(host) &&
    !domainToUnicode(host)
      .split('.')
      .some((label) => label.startsWith('xn--'))
  );
}

function refuse(code: DomainNameFault['code'], message: string): DomainNameResult {
  return { ok: false, fault: { code, message } };
}

import { HOST_NAME } from '../../lib/host-names.ts';
import { canonicalName } from './domain-name.ts';
import type { CaaRecord } from './record.ts';

/** RFC 8659 section 4.1: this bit forbids issuance by anyone who does not know the property. */
const CRITICAL = 0x80;
/** Properties that Homeport understands, or that do not affect issuance by HTTP-01 (RFC 8659, RFC 9495). */
const KNOWN = new Set(['issue', 'issuewild', 'iodef', 'issuemail', 'contactemail', 'contactphone']);
/** The validation method that Homeport uses (RFC 8555 section 8.3). */
const VALIDATION_METHOD = 'http-01';

export interface CaaAuthority {
  /** The issuer domain names of the authority. */
  identities: string[];
  /** The URL of the ordering account; null before it is registered. */
  accountUrl: string | null;
}

/**
 * One sentence that says why the CAA records forbid the authority to issue for `name` and what to change (RFC 8659,
 * RFC 8657); null if they allow it. A `name` that begins with `*.` is a wildcard.
 */
export function caaRefusal(name: string, caa: CaaRecord[], authority: CaaAuthority): string | null {
  const identities = authority.identities.map(canonicalName);
  const owner = caa[0]?.hdr.name ?? name;
  const advice = `add the CAA record 0 issue "${identities[0] ?? ''}" to ${owner}`;

  const unknown = caa.find(({ flag, tag }) => (flag & CRITICAL) !== 0 && !KNOWN.has(tag.toLowerCase()));
  if (unknown) {
    return `The CAA record "${unknown.tag}" of ${owner} is critical and unknown, which forbids a certificate for ${name}: remove it or its critical flag.`;
  }

  const issuers = issuersFor(name, caa);
  // Without issue (or issuewild) there is no restriction (RFC 8659 section 4.2).
  if (issuers.length === 0) return null;
  const own = issuers.filter(({ domain }) => identities.includes(domain));
  if (own.length === 0) {
    const others = [...new Set(issuers.flatMap(({ domain }) => (domain === '' ? [] : [domain])))];
    const present =
      others.length === 0 ? 'forbid every authority' : `allow only ${others.slice(0, 3).join(', ')}`;
    return `The CAA records of ${owner} ${present}, so no certificate can be issued for ${name}: ${advice}.`;
  }
  if (own.some((issuer) => permits(issuer, authority.accountUrl))) return null;
  return `The CAA records of ${owner} allow ${own[0]?.domain} only for another account or another validation method than ${VALIDATION_METHOD}, so no certificate can be issued for ${name}: ${advice}.`;
}

interface Issuer {
  /** Lower case; '' if the record allows no authority or is malformed, which means the same. */
  domain: string;
  parameters: Map<string, string>;
}

/** RFC 8659 section 4.3: issuewild records replace issue records for wildcards. */
function issuersFor(name: string, caa: CaaRecord[]): Issuer[] {
  const tagged = (tag: string) => caa.filter((record) => record.tag.toLowerCase() === tag);
  const wild = name.startsWith('*.') ? tagged('issuewild') : [];
  const records = wild.length > 0 ? wild : tagged('issue');
  return records.map(({ value }) => parseIssuer(value));
}

const NOBODY: Issuer = { domain: '', parameters: new Map() };
const ISSUER_DOMAIN = new RegExp(`^${HOST_NAME}$`);
const PARAMETER =
  /^[ \t]*([a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)[ \t]*=[ \t]*([\x21-\x3a\x3c-\x7e]*)[ \t]*$/;

/** RFC 8659 section 4.2: `domain; name=value; …`, each part optional. */
function parseIssuer(value: string): Issuer {
  const [first = '', ...rest] = value.split(';');
  const domain = first.trim().toLowerCase();
  if (!ISSUER_DOMAIN.test(domain)) return NOBODY;
  const parameters = new Map<string, string>();
  for (const part of rest) {
    if (part.trim() === '') continue;
    const [, name, content] = PARAMETER.exec(part) ?? [];
    // A malformed value allows no authority.
    if (name === undefined || content === undefined) return NOBODY;
    parameters.set(name.toLowerCase(), content);
  }
  return { domain, parameters };
}

/** RFC 8657 sections 3 and 4. */
function permits({ parameters }: Issuer, accountUrl: string | null): boolean {
  const account = parameters.get('accounturi');
  if (account !== undefined && accountUrl !== null && account !== accountUrl) return false;
  const methods = parameters.get('validationmethods');
  return methods === undefined || methods.split(',').includes(VALIDATION_METHOD);
}

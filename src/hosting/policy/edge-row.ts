import { hash } from 'node:crypto';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { SERVED_NAME } from '../../lib/host-names.ts';
import type { S3Service } from '../../network/object-storage/s3-address.ts';
import type { Hostname, InstallState } from '../contract/install-state.ts';
import {
  type CacheRules,
  COOKIE_RULE,
  NO_RULES,
  PAGE_SECONDS,
  PARAMETER_NAME,
  REDIRECT_STATUSES,
  VISITOR_NAME,
  type WebsiteRules,
} from '../contract/website-rules.ts';
import { type AddressRanges, addressRanges } from './address-ranges.ts';
import { certificateId } from './certificate-id.ts';
import { DEFAULT_DENY, DENY_PATTERN, INSTALLATION } from './deny-rules.ts';
import { offloadOrigin } from './offload-origin.ts';
import { OffloadRuleSchema, offloadRulesOf } from './offload-rule.ts';
import { parsePattern } from './path-pattern.ts';
import { bodyMb } from './php-limits.ts';
import { REDIRECT_TARGET } from './redirect-target.ts';
import { VISITOR_PASSWORD_HASH } from './visitor-password.ts';

const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
const OrNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** Sorted and disjoint ranges in hexadecimal digits, see `address-ranges.ts`. */
const RangesSchema = Type.Object({
  ipv4: rangesOf(8),
  ipv6: rangesOf(32),
});

function rangesOf(digits: number) {
  const address = Type.String({ pattern: `^[0-9a-f]{${digits}}$` });
  return Type.Array(Type.Tuple([address, address]));
}

const NameSchema = Type.Object({
  /** The name that requests are redirected to; null to serve the website. */
  redirectTo: OrNull(Type.String({ pattern: `^${SERVED_NAME}$` })),
  forceHttps: Type.Boolean(),
  /** Null: the edge's own certificate. */
  certificate: OrNull(Type.String({ pattern: '^[0-9a-f]{32}$' })),
  /** End of the certificate, in milliseconds; null without one. */
  certifiedUntil: OrNull(Type.Integer()),
  /** Whether it is the install's default domain. */
  default: Type.Boolean(),
});

const EdgeRowSchema = Type.Object({
  version: Type.Literal(1),
  id: Type.String({ pattern: UUID }),
  name: Type.String(),
  /** SHA-256 of everything else, hex. The edge answers it at the marker's path. */
  revision: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  /** The folder that no path of the website leaves. */
  home: Type.String({ pattern: '^/' }),
  /** The document root. */
  root: Type.String({ pattern: '^/' }),
  /** Unix socket of PHP; null without PHP. */
  php: OrNull(Type.String({ pattern: '^unix:/' })),
  /** The Unix user of the install; null if it has none. */
  uid: OrNull(Type.Integer()),
  /** By host name; the `*` of `*.example.com` matches one label. */
  names: Type.Record(Type.String({ pattern: `^(\\*\\.)?${SERVED_NAME}$` }), NameSchema, {
    additionalProperties: false,
  }),
  offload: OrNull(
    Type.Object({
      /** Address of the bucket for visitors, and for the edge. */
      base: Type.String(),
      fetchBase: Type.String(),
      /** Longest path first. Paths are segments without `/` at the ends; the empty path matches everything. */
      rules: Type.Array(OffloadRuleSchema),
    }),
  ),
  pages: Type.Object({
    /** Whether visitors see the last good page while PHP fails. */
    staleIfError: Type.Boolean(),
    /** Limit of cached pages, in bytes within ten minutes. */
    mostBytes: Type.Integer({ minimum: 0 }),
    /** A page is at most this old. */
    seconds: Type.Integer({ minimum: PAGE_SECONDS.least, maximum: PAGE_SECONDS.most }),
    /** Decoded paths whose pages are never cached; a prefix ends at a segment border. */
    uncachedPaths: Type.Array(
      Type.Object({ match: Type.Enum(['exact', 'prefix']), path: Type.String({ pattern: '^/' }) }),
    ),
    /** Names of cookies, and beginnings of names with a final `*`, whose visitors bypass the cache. */
    bypassCookies: Type.Array(Type.String({ pattern: COOKIE_RULE })),
    /** Query parameters that make no other page, besides those of campaigns. */
    ignoredParameters: Type.Array(Type.String({ pattern: PARAMETER_NAME })),
  }),
  /** Keeps search engines away from the default domain, or from all names. */
  noindex: Type.Enum(['default', 'all']),
  /** Addresses that get 403. */
  blocked: RangesSchema,
  /** Whether XML-RPC is answered. */
  xmlrpc: Type.Boolean(),
  /** Asks visitors for a name and a password. */
  protect: OrNull(
    Type.Object({
      /** Shown by the browser. */
      realm: Type.String({ pattern: '^[A-Za-z0-9 ._-]{1,64}$' }),
      /** Hashes of `hashVisitorPassword`, by user name. */
      users: Type.Record(
        Type.String({ pattern: VISITOR_NAME }),
        Type.String({ pattern: VISITOR_PASSWORD_HASH }),
      ),
      /** Addresses that are not asked. */
      exempt: RangesSchema,
      /** Signs passes, see `visitor-pass.ts`. */
      passKey: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
    }),
  ),
  /** Files that no visitor sees, in the patterns of {@link DEFAULT_DENY}. */
  deny: Type.Array(Type.String({ pattern: DENY_PATTERN })),
  /** Redirects of paths. The first one that matches counts. */
  redirects: Type.Array(
    Type.Object({
      /** A decoded path, whose final slash counts for nothing, or an expression for PCRE. A prefix ends at a segment border. */
      from: Type.String({ minLength: 1 }),
      match: Type.Enum(['exact', 'prefix', 'regex']),
      /** An URL or a path. The rest of a path after its prefix is appended; `$1` is a group of an expression. */
      to: Type.String({ pattern: REDIRECT_TARGET }),
      status: Type.Enum([...REDIRECT_STATUSES]),
      /** Whether the visitor's query is appended. */
      keepQuery: Type.Boolean(),
    }),
  ),
  /** The largest body of a request, if it is not that of the machine. */
  bodyBytes: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Whether requests to the login and to XML-RPC are limited. */
  limits: Type.Object({ login: Type.Boolean(), xmlrpc: Type.Boolean() }),
  /** Present if visitors see that the website is closed, because it lost data. */
  closed: Type.Optional(Type.Literal(true)),
  /** Present if the website takes no changes until that time, because it is being moved. Null: it is not in service yet. */
  held: Type.Optional(Type.Object({ untilMs: OrNull(Type.Integer()) })),
});

/** Everything that the edge knows about an install, without secrets except hashes of passwords and keys of passes. */
export type EdgeRow = Type.Static<typeof EdgeRowSchema>;

const schema = Compile(EdgeRowSchema);

/** Facts of the machine that a row needs besides the install's state. */
export interface RowFacts extends Pick<EdgeRow, 'home' | 'root' | 'php' | 'uid'> {
  /** The default domain of the install; null if it has none. */
  defaultDomain: string | null;
  s3: S3Service;
  /** Whether it lost data; false if left out. */
  isClosed?: boolean;
  held?: EdgeRow['held'];
}

const MOST_PAGE_BYTES = 256 * 1024 * 1024;
/** One list for all rows, so that what an edge computes from it is shared. */
const DENY = [...DEFAULT_DENY, ...INSTALLATION];
const NO_ADDRESSES: AddressRanges = { ipv4: [], ipv6: [] };

/** The part of a row that an edge obeys on any machine. */
export type EdgeRules = Pick<EdgeRow, 'names' | 'noindex' | 'deny' | 'blocked' | 'protect'>;

/** The rules of an install. `defaultDomain`: null if it has none. */
export function rulesOf(
  {
    name,
    hostnames,
    rules,
  }: { name: string; hostnames: Hostname[]; rules?: WebsiteRules | null | undefined },
  defaultDomain: string | null,
): EdgeRules {
  const { noindex, blockedAddresses, password } = rules ?? NO_RULES;
  return {
    names: Object.fromEntries(hostnames.map((hostname) => [hostname.name, nameOf(hostname, defaultDomain)])),
    noindex: noindex ? 'all' : 'default',
    deny: DENY,
    blocked: blockedAddresses.length === 0 ? NO_ADDRESSES : addressRanges(blockedAddresses),
    protect: password && {
      realm: name,
      users: { [password.user]: password.hash },
      exempt: addressRanges(password.exemptAddresses),
      passKey: password.passKey,
    },
  };
}

/** The row of an install. Throws a {@link PermanentHostError} if the bucket of its offload is invalid. */
export function rowOf(state: InstallState, facts: RowFacts): EdgeRow {
  const { home, root, php, uid, defaultDomain } = facts;
  const { names, noindex, deny, blocked, protect } = rulesOf(state, defaultDomain);
  const { blockXmlrpc, redirects, cache } = state.rules ?? NO_RULES;
  return sealRow({
    version: 1,
    id: state.id,
    name: state.name,
    home,
    root,
    php,
    uid,
    names,
    offload: offloadOf(state, facts.s3),
    pages: { staleIfError: false, mostBytes: MOST_PAGE_BYTES, ...pageRulesOf(cache) },
    noindex,
    blocked,
    xmlrpc: !blockXmlrpc,
    protect,
    deny,
    redirects: redirects.map((rule) =>
      rule.match === 'regex' ? { ...rule, from: parsePattern(rule.from).pcre } : rule,
    ),
    ...bodyOf(state),
    limits: { login: true, xmlrpc: true },
    ...(facts.isClosed === true ? { closed: true } : {}),
    ...(facts.held === undefined ? {} : { held: facts.held }),
  });
}

/** The row with the revision of its content. */
export function sealRow(row: Omit<EdgeRow, 'revision'> & Partial<EdgeRow>): EdgeRow {
  const { version, id, name, revision: _replaced, ...rest } = row;
  const revision = hash('sha256', JSON.stringify({ version, id, name, ...rest }), 'hex');
  // The id comes first, so that a reader finds it in any row that was begun.
  return { version, id, name, revision, ...rest };
}

function nameOf(
  { name, redirectTo, forceHttps, certificate }: Hostname,
  defaultDomain: string | null,
): EdgeRow['names'][string] {
  return {
    redirectTo,
    forceHttps,
    certificate: certificate === null ? null : certificateId(certificate),
    certifiedUntil: certificate === null ? null : Date.parse(certificate.notAfter),
    default: name === defaultDomain,
  };
}

/** How the pages of an install are cached. */
export function pageRulesOf(cache: CacheRules | null) {
  const { uncachedPaths = [], bypassCookies = [], ignoredParameters = [] } = cache ?? {};
  return {
    seconds: cache?.pageSeconds ?? PAGE_SECONDS.usual,
    uncachedPaths,
    bypassCookies,
    ignoredParameters,
  };
}

function bodyOf({ php }: InstallState): Pick<EdgeRow, 'bodyBytes'> {
  const uploadMb = php?.uploadMb ?? null;
  return uploadMb === null ? {} : { bodyBytes: bodyMb(uploadMb) * 1024 * 1024 };
}

function offloadOf({ offload }: InstallState, s3: S3Service): EdgeRow['offload'] {
  if (offload === null) return null;
  return { ...offloadOrigin(s3, offload), rules: offloadRulesOf(offload.paths) };
}

/** Parses a row. Throws if the text is not the row of an install; the message quotes none of it. */
export function parseRow(text: string): EdgeRow {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the row is not JSON');
  }
  if (!schema.Check(value)) {
    const [fault] = schema.Errors(value);
    throw new Error(`the row does not match its schema at ${fault?.instancePath || '/'}`);
  }
  if (sealRow(value).revision !== value.revision) throw new Error('the row does not match its revision');
  return value;
}

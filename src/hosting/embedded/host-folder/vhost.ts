import { hash } from 'node:crypto';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { messageOf } from '../../../lib/error-message.ts';
import { HOST_LABEL, MAX_HOST_NAME, SERVED_NAME } from '../../../lib/host-names.ts';
import type { Sealer } from '../../../secrets/sealer.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { CacheKind } from '../../contract/host.ts';
import type { Hostname, InstallState, OffloadRules } from '../../contract/install-state.ts';
import { phpLimits } from '../../contract/php-messages.ts';
import {
  NO_RULES,
  type PathRedirect,
  type WebsiteRules,
  WebsiteRulesSchema,
} from '../../contract/website-rules.ts';
import { certificateId } from '../../policy/certificate-id.ts';
import { type EdgeRules, pageRulesOf, rulesOf } from '../../policy/edge-row.ts';
import { type OffloadRule, offloadRulesOf } from '../../policy/offload-rule.ts';
import { checkNames } from '../../policy/served-names.ts';
import { type Generations, GenerationsSchema } from './generations.ts';

const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
const PATH = Type.String({ pattern: '^/', maxLength: 2048 });

const VhostFileSchema = Type.Object({
  version: Type.Literal(1),
  id: Type.String({ pattern: UUID }),
  name: Type.String({ pattern: `^${HOST_LABEL}$` }),
  hostnames: Type.Array(
    Type.Object({
      name: Type.String({ pattern: `^(\\*\\.)?${SERVED_NAME}$`, maxLength: 255 }),
      redirectTo: Type.Union([
        Type.String({ pattern: `^${SERVED_NAME}$`, maxLength: MAX_HOST_NAME }),
        Type.Null(),
      ]),
      forceHttps: Type.Boolean(),
      certificate: Type.Union([
        Type.Object({
          chain: Type.String(),
          sealedKey: Type.String(),
          /** Missing in older files. */
          notAfter: Type.Optional(Type.String({ format: 'date-time' })),
        }),
        Type.Null(),
      ]),
    }),
  ),
  offload: Type.Union([
    Type.Object({
      bucket: Type.String({ minLength: 1 }),
      region: Type.String(),
      paths: Type.Array(
        Type.Object({
          path: PATH,
          excludedPaths: Type.Array(PATH),
          redirectType: Type.Enum(['break', 'permanent']),
        }),
      ),
    }),
    Type.Null(),
  ]),
  /** Missing in older files, and without rules. */
  rules: Type.Optional(WebsiteRulesSchema),
  /** Missing if the website consists of files. */
  wordpress: Type.Optional(
    Type.Object({
      version: Type.String({ pattern: '^\\d{1,3}(\\.\\d{1,3}){1,2}$' }),
      /** Main address: `https://example.com`, with the port unless it is the default. */
      origin: Type.String({ pattern: '^https?://[a-z0-9._-]+(:\\d{1,5})?$' }),
      /** Recipients of its email within an hour, if the install has a limit of its own. */
      mailsPerHour: Type.Optional(Type.Integer({ minimum: 0 })),
      /** Limits of its PHP that its users have set. */
      php: Type.Optional(phpLimits),
    }),
  ),
  generations: GenerationsSchema,
});

/** The file of one website. Private keys are sealed. */
export type VhostFile = Type.Static<typeof VhostFileSchema>;

const vhostFile = Compile(VhostFileSchema);

/** Parses a vhost file. The error names the fault without quoting content. */
export function parseVhostFile(text: string): VhostFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('is not JSON');
  }
  if (vhostFile.Check(value)) return value;
  const [fault] = vhostFile.Errors(value);
  throw new Error(`does not fit its schema at ${fault?.instancePath || '/'}: ${fault?.message ?? 'unknown'}`);
}

/** The WordPress of a website. */
export type ServedWordPress = NonNullable<VhostFile['wordpress']>;

/** The parts of an install's state that a vhost file is made from. */
export type ServedState = Pick<InstallState, 'id' | 'name' | 'hostnames' | 'offload' | 'rules'>;

/**
 * Returns the vhost file for `state`. Throws a {@link PermanentHostError} that names the part of `state` that cannot be served.
 * `wordpress`: null for a website of files.
 */
export function vhostFileFor(
  state: ServedState,
  generations: Generations,
  sealer: Sealer,
  wordpress: ServedWordPress | null = null,
): VhostFile {
  const refusal = (why: string, cause: unknown) =>
    new PermanentHostError(`cannot serve the website ${state.name} as requested: ${why}`, { cause });
  try {
    checkNames(state);
  } catch (cause) {
    throw refusal(messageOf(cause), cause);
  }
  const file: VhostFile = {
    version: 1,
    id: state.id,
    name: state.name,
    hostnames: state.hostnames.map(({ certificate, ...rest }) => ({
      ...rest,
      certificate:
        certificate === null
          ? null
          : {
              chain: certificate.chain,
              sealedKey: sealer.seal(certificate.key),
              notAfter: certificate.notAfter,
            },
    })),
    offload: state.offload,
    ...rulesIn(state.rules),
    ...(wordpress === null ? {} : { wordpress }),
    generations,
  };
  try {
    return parseVhostFile(JSON.stringify(file));
  } catch (cause) {
    throw refusal(`its vhost file ${messageOf(cause)}`, cause);
  }
}

/**
 * The state that a vhost file was made from, or null for older files that lack parts of it. Throws if a private key cannot be
 * unsealed.
 */
export function stateOf(
  { id, name, hostnames, offload, rules }: VhostFile,
  sealer: Sealer,
): ServedState | null {
  const state: ServedState = { id, name, hostnames: [], offload, ...rulesIn(rules) };
  for (const { certificate, ...rest } of hostnames) {
    if (certificate === null) {
      state.hostnames.push({ ...rest, certificate });
      continue;
    }
    const { chain, sealedKey, notAfter } = certificate;
    if (notAfter === undefined) return null;
    state.hostnames.push({ ...rest, certificate: { chain, key: sealer.open(sealedKey), notAfter } });
  }
  return state;
}

/** The member for the rules, if there are any. */
export const rulesIn = (rules: WebsiteRules | null | undefined): { rules?: WebsiteRules } =>
  rules ? { rules } : {};

/** A website in the edge's memory, without certificates. Those are read when a visitor needs them. */
export interface Vhost extends Omit<EdgeRules, 'names'> {
  id: string;
  name: string;
  names: ReadonlyMap<string, NameRule>;
  /** Where the file has the certificate of a name. */
  certificates: ReadonlyMap<string, FileSpan>;
  offload: Offload | null;
  redirects: readonly PathRedirect[];
  /** Null if the website consists of files. */
  wordpress: ServedWordPress | null;
  /** Whether XML-RPC is answered. */
  xmlrpc: boolean;
  /** How pages of PHP are cached. */
  pages: ReturnType<typeof pageRulesOf>;
  /** Prefix of every key in that kind of cache; new for each generation. */
  cachePrefix: Record<CacheKind, string>;
  /** Generations of purged pages, by path. */
  purgedPages: ReadonlyMap<string, number>;
  /** Identifies this content of the vhost file: SHA-256, hex. */
  revision: string;
}

export type NameRule = EdgeRules['names'][string];

/** Bytes of a file, its end left out. */
export interface FileSpan {
  start: number;
  end: number;
}

/** A bucket, and the paths that it answers. */
export interface Offload extends Pick<OffloadRules, 'bucket' | 'region'> {
  rules: OffloadRule[];
}

/** Hash of the content of a vhost file. */
export function revisionOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The in-memory form of the vhost file with that content. Throws as {@link parseVhostFile} does. */
export function parseVhost(text: string, siteDomain: string): Vhost {
  const { id, name, hostnames, offload, rules, wordpress, generations } = parseVhostFile(text);
  const platformName = `${name}.${siteDomain}`;
  const { names, ...obeyed } = rulesOf(
    // An install always answers its default domain, even if its domains do not list it.
    { name, hostnames: [plainName(platformName), ...hostnames.map(certified)], rules },
    platformName,
  );
  return {
    id,
    name,
    ...obeyed,
    redirects: rules?.redirects ?? NO_REDIRECTS,
    wordpress: wordpress ?? null,
    xmlrpc: !(rules ?? NO_RULES).blockXmlrpc,
    pages: pageRulesOf(rules?.cache ?? null),
    names: new Map(Object.entries(names)),
    certificates: certificateSpans(text, hostnames),
    offload: offload && offloadOf(offload),
    cachePrefix: prefixes(id, generations),
    purgedPages: new Map(Object.entries(generations.paths ?? {})),
    revision: revisionOf(text),
  };
}

/**
 * Finds the certificates in a vhost file, each as the texts of its chain and its key with what is between them. Nothing before them has
 * letters beyond ASCII, so characters are bytes; {@link certificateIn} finds out if not.
 */
function certificateSpans(text: string, hostnames: VhostFile['hostnames']): ReadonlyMap<string, FileSpan> {
  const spans = new Map<string, FileSpan>();
  let from = 0;
  for (const { name, certificate } of hostnames) {
    if (certificate === null) continue;
    const start = text.indexOf(JSON.stringify(certificate.chain), from);
    const key = JSON.stringify(certificate.sealedKey);
    const keyAt = start === -1 ? -1 : text.indexOf(key, start);
    if (keyAt === -1) continue;
    from = keyAt + key.length;
    spans.set(name, { start, end: from });
  }
  return spans;
}

const SealedCertificate = Compile(Type.Object({ chain: Type.String(), sealedKey: Type.String() }));

/** The certificate in a part of a vhost file; null if that is not the one with this id, because the file has changed since it was read. */
export function certificateIn(part: string, id: string): { chain: string; sealedKey: string } | null {
  try {
    const value: unknown = JSON.parse(`{"chain":${part}}`);
    return SealedCertificate.Check(value) && sealedCertificateId(value) === id ? value : null;
  } catch {
    return null;
  }
}

const NO_REDIRECTS: readonly PathRedirect[] = [];

const offloadOf = ({ bucket, region, paths }: OffloadRules): Offload => ({
  bucket,
  region,
  rules: offloadRulesOf(paths),
});

const plainName = (name: string): Hostname => ({
  name,
  redirectTo: null,
  forceHttps: false,
  certificate: null,
});

/** RFC 5280 section 4.1.2.5: no well-defined end. */
const NO_END = '9999-12-31T23:59:59.000Z';

/** A host name whose certificate has its key sealed. */
function certified({ certificate, ...rest }: VhostFile['hostnames'][number]): Hostname {
  if (certificate === null) return { ...rest, certificate };
  const { chain, sealedKey, notAfter = NO_END } = certificate;
  return { ...rest, certificate: { chain, key: sealedKey, notAfter } };
}

/** The id of a certificate in a vhost file, as the rules of its name have it. */
export const sealedCertificateId = ({ chain, sealedKey }: { chain: string; sealedKey: string }): string =>
  certificateId({ chain, key: sealedKey });

function prefixes(id: string, generations: Generations): Record<CacheKind, string> {
  const prefix = (kind: CacheKind) => `${id}/${generations[kind]}/`;
  return { object: prefix('object'), page: prefix('page'), cdn: prefix('cdn') };
}

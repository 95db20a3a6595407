import { hash } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { messageOf } from '../../../lib/error-message.ts';
import { HOST_LABEL, MAX_HOST_NAME, SERVED_NAME } from '../../../lib/host-names.ts';
import type { Sealer } from '../../../secrets/sealer.ts';
import {
  CACHE_KINDS,
  type CacheKind,
  type InstallState,
  type OffloadRules,
  PermanentHostError,
  type ServedCertificate,
} from '../../contract/host.ts';

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
          /** Files from before it was kept lack it. */
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
  generations: Type.Object({ object: Type.Integer(), page: Type.Integer(), cdn: Type.Integer() }),
});

/** What stands on disk for one website. Private keys are sealed. */
export type VhostFile = Type.Static<typeof VhostFileSchema>;

/** Which filling of each cache is in force. A purge sets a new one, so that nothing of the old is found again. */
export type Generations = Record<CacheKind, number>;

const vhostFile = Compile(VhostFileSchema);

/** Reads the content of a vhost file. The error says what is wrong with it and quotes nothing of it. */
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

/**
 * What to write for a website to be as `state` says. Throws a {@link PermanentHostError} that names what in `state`
 * cannot be served.
 */
/** What of an install's state this host acts on: it runs neither PHP nor WordPress. */
export type ServedState = Pick<InstallState, 'id' | 'name' | 'hostnames' | 'offload'>;

export function vhostFileFor(state: ServedState, generations: Generations, sealer: Sealer): VhostFile {
  for (const hostname of state.hostnames) {
    if (hostname.redirectTo === hostname.name) {
      throw new PermanentHostError(`${hostname.name} redirects to itself`);
    }
    if (hostname.certificate !== null) assertUsable(hostname.name, hostname.certificate);
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
    generations,
  };
  try {
    return parseVhostFile(JSON.stringify(file));
  } catch (cause) {
    const why = messageOf(cause);
    throw new PermanentHostError(
      `the website ${state.name} cannot be served as asked: its vhost file ${why}`,
      {
        cause,
      },
    );
  }
}

function assertUsable(name: string, { chain, key }: ServedCertificate): void {
  try {
    createSecureContext({ cert: chain, key });
  } catch (cause) {
    const why = messageOf(cause);
    throw new PermanentHostError(`the certificate of ${name} cannot be used: ${why}`, { cause });
  }
}

/**
 * The state that a vhost file stands for, or null if it was written before all of the state was kept. Throws if a
 * private key cannot be unsealed.
 */
export function stateOf({ id, name, hostnames, offload }: VhostFile, sealer: Sealer): ServedState | null {
  const state: ServedState = { id, name, hostnames: [], offload };
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

/** A website as the edge keeps it in memory: without certificates, which are read when a visitor needs them. */
export interface Vhost {
  id: string;
  name: string;
  hostnames: ReadonlyMap<string, VhostName>;
  offload: OffloadRules | null;
  /** Begins every key in the cache of that kind; a new one for each filling. */
  cachePrefix: Record<CacheKind, string>;
  /** Tells this content of the vhost file from any other: SHA-256, hex. */
  revision: string;
}

export interface VhostName {
  name: string;
  redirectTo: string | null;
  forceHttps: boolean;
  /** Until when its certificate is valid, in milliseconds; null if the vhost file has none for this name. */
  certifiedUntil: number | null;
  /** It is `<install name>.<site domain>`, which is the install's in any case. */
  platform: boolean;
}

/** Hash of the content of a vhost file. */
export function revisionOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The in-memory form of the vhost file with that content. Throws as {@link parseVhostFile} does. */
export function parseVhost(text: string, siteDomain: string): Vhost {
  const { id, name, hostnames, offload, generations } = parseVhostFile(text);
  const platformName = `${name}.${siteDomain}`;
  const names = new Map<string, VhostName>([
    // An install answers its platform name whether its domains say so or not.
    [
      platformName,
      { name: platformName, redirectTo: null, forceHttps: false, certifiedUntil: null, platform: true },
    ],
  ]);
  for (const { certificate, ...rest } of hostnames) {
    names.set(rest.name, {
      ...rest,
      certifiedUntil: certificate === null ? null : endOf(certificate),
      platform: rest.name === platformName,
    });
  }
  return {
    id,
    name,
    hostnames: names,
    offload,
    cachePrefix: prefixes(id, generations),
    revision: revisionOf(text),
  };
}

/** Where it is not known, the certificate is taken to be valid. */
function endOf({ notAfter }: { notAfter?: string }): number {
  return notAfter === undefined ? Number.POSITIVE_INFINITY : Date.parse(notAfter);
}

function prefixes(id: string, generations: Generations): Record<CacheKind, string> {
  const prefix = (kind: CacheKind) => `${id}/${generations[kind]}/`;
  return { object: prefix('object'), page: prefix('page'), cdn: prefix('cdn') };
}

/**
 * The generations after some caches were emptied at the time `now` (milliseconds). They follow the clock, so that a website
 * that is removed and made again under its id never meets what was cached before.
 */
export function nextGenerations(
  present: Generations | null,
  now: number,
  emptied: readonly CacheKind[] = CACHE_KINDS,
): Generations {
  const next = (kind: CacheKind): number => {
    const before = present?.[kind];
    if (before === undefined) return now;
    return emptied.includes(kind) ? Math.max(before + 1, now) : before;
  };
  return { object: next('object'), page: next('page'), cdn: next('cdn') };
}

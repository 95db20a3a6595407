import type { Config } from '../../config/config.ts';
import type { Queries } from '../../database/database.ts';
import { CAPABILITIES, type Capability, type CapabilityState } from '../../hosting/contract/capabilities.ts';
import type { Runtime } from '../../hosting/contract/install-state.ts';
import { capabilityOf, type HostFacts, runtimeOn } from '../../hosting/policy/capabilities.ts';
import { CapabilityUnavailable, NotFound, type RequestField } from '../../lib/failures.ts';
import type { Platform } from '../../platform/platform.ts';
import { findHost, findHosted } from './store.ts';

/** The part of an install that decides what its host does for it. */
export interface Hosted {
  host_id: string | null;
  runtime: Runtime | null;
}

/** A capability of an install. */
export type NamedCapability = CapabilityState & { name: Capability };

/** Tells what hosts do for installs. */
export interface CapabilityReader {
  /** Whether the host of an install does something for it. */
  of(queries: Queries, install: Hosted, capability: Capability): Promise<CapabilityState>;
  /** As `of`, for many installs. */
  ofMany<Install extends Hosted>(
    queries: Queries,
    installs: readonly Install[],
    capability: Capability,
  ): Promise<{ install: Install; state: CapabilityState }[]>;
  /** Every capability of an install. */
  all(queries: Queries, install: Hosted): Promise<NamedCapability[]>;
  /**
   * Throws CapabilityUnavailable if the host does not do it. Services call this before they queue anything. `asked`: the field of the
   * request that asks for it, if it is not the whole request.
   */
  require(queries: Queries, install: Hosted, capability: Capability, asked?: RequestField): Promise<void>;
  /** As `require`, for an install by its id. Throws NotFound. */
  requireOf(queries: Queries, installId: string, capability: Capability): Promise<void>;
}

/** `kind`: of the hosts of this platform. */
export function createCapabilityReader(
  { config }: Pick<Platform, 'config'>,
  kind: Config['host'],
): CapabilityReader {
  async function factsOf(queries: Queries, { host_id }: Hosted): Promise<HostFacts> {
    if (kind === 'embedded') {
      return { kind, runsPhp: config.embeddedPhpMb !== 0, hasMailServer: config.smtpUrl !== null };
    }
    const host = host_id === null ? undefined : await findHost(queries, { id: host_id });
    return { kind, description: host?.description ?? null };
  }

  const stateOf = (capability: Capability, { runtime }: Hosted, facts: HostFacts): CapabilityState =>
    capabilityOf(capability, runtimeOn(kind, runtime), facts);

  const of: CapabilityReader['of'] = async (queries, install, capability) =>
    stateOf(capability, install, await factsOf(queries, install));

  const require: CapabilityReader['require'] = async (
    queries,
    install,
    capability,
    asked = { resource: 'Install', field: capability },
  ) => {
    const state = await of(queries, install, capability);
    if (!state.available) throw new CapabilityUnavailable(state, asked);
  };

  return {
    of,
    require,
    async ofMany(queries, installs, capability) {
      const facts = new Map<string | null, HostFacts>();
      for (const install of installs) {
        if (!facts.has(install.host_id)) facts.set(install.host_id, await factsOf(queries, install));
      }
      return installs.flatMap((install) => {
        const known = facts.get(install.host_id);
        return known === undefined ? [] : [{ install, state: stateOf(capability, install, known) }];
      });
    },
    async all(queries, install) {
      const facts = await factsOf(queries, install);
      return CAPABILITIES.map((name) => ({ name, ...stateOf(name, install, facts) }));
    },
    async requireOf(queries, id, capability) {
      const install = await findHosted(queries, id);
      if (!install) throw new NotFound();
      await require(queries, install, capability);
    },
  };
}

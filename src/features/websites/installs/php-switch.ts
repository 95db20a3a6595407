import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { type InvalidRequest, invalidValue, NotFound } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import { findHost } from '../../hosts/store.ts';
import { updatePhp } from './jobs.ts';
import { lockNamed, type Website } from './requested-website.ts';
import { findInstallAccess } from './store.ts';
import { findWebsite } from './website-store.ts';

/** A requested switch of PHP versions. */
export interface RequestedPhp {
  /** Null if the website runs on it already. */
  jobId: string | null;
  installId: string;
  /** The present version. */
  from: string | null;
}

/** The PHP versions that the host of an install offers, newest first; none without PHP. */
export async function offeredPhp(
  queries: Queries,
  { host_id, runtime, php_version }: Pick<Website, 'host_id' | 'runtime' | 'php_version'>,
): Promise<string[]> {
  // The embedded host has one version.
  if (runtime === 'wordpress') return php_version === null ? [] : [php_version];
  const host = host_id === null ? undefined : await findHost(queries, { id: host_id });
  return host?.description?.phpVersions ?? [];
}

const PHP_VERSION = { resource: 'Installation', field: 'php_version' };

/** Requests switches of installs to other PHP versions of their hosts. */
export function createPhpSwitch(
  { database, queue, activity }: Pick<Platform, 'database' | 'queue' | 'activity'>,
  capabilities: Pick<CapabilityReader, 'require'>,
) {
  /** Requests the switch of a locked install. Throws InvalidRequest if its host does not offer the version. */
  async function request(
    transaction: Transaction,
    doer: Actor,
    install: Website,
    version: string,
  ): Promise<RequestedPhp> {
    const { id, name, php_version: from } = install;
    const { queries } = transaction;
    if (version !== from) await capabilities.require(queries, install, 'php_versions', PHP_VERSION);
    const offered = await offeredPhp(queries, install);
    // Websites stay on a version that is no longer offered.
    if (version !== from && !offered.includes(version)) {
      const choice = offered.length === 0 ? 'its host has none' : `choose one of ${offered.join(', ')}`;
      throw refused('not_offered', `PHP ${version} is not offered; ${choice}`);
    }
    if (install.status !== 'active') {
      throw refused('not_active', `The install is ${install.status}; only an active one can be switched`);
    }
    if (version === from) return { jobId: null, installId: id, from };
    const jobId = await queue.enqueue(transaction, updatePhp, {
      payload: { id, version },
      lane: id,
      requestId: doer.origin.requestId,
      result: { version },
    });
    await activity.record(transaction, doer, install.account_id, {
      action: 'install.update_php',
      subject: { id, name },
      installId: id,
      details: { from, to: version },
    });
    return { jobId, installId: id, from };
  }

  return {
    request,

    /** For the command line: by name. Throws InvalidRequest. */
    byName: (name: string, version: string): Promise<RequestedPhp> =>
      database.write(async (transaction) => {
        const install = await lockNamed(transaction, name);
        return request(transaction, OPERATOR, install, version);
      }),

    /** The install, and the versions that its host offers, newest first; none without PHP. Throws NotFound. */
    async offered(caller: Caller, id: string): Promise<{ install: Website; versions: string[] }> {
      const { reader } = database;
      authorize('install.read', 'install.read', await findInstallAccess(reader, caller, id));
      const install = await findWebsite(reader, { id });
      if (!install) throw new NotFound();
      return { install, versions: await offeredPhp(reader, install) };
    },
  };
}

function refused(code: string, message: string): InvalidRequest {
  return invalidValue(PHP_VERSION.resource, PHP_VERSION.field, code, message);
}

import type { Logger } from 'pino';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import type { S3Service } from '../../../network/object-storage/s3-address.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { ServedCertificate } from '../../contract/install-state.ts';
import { type EdgeRow, rowOf } from '../../policy/edge-row.ts';
import { ask } from '../../policy/probe.ts';
import { askableName, checkNames } from '../../policy/served-names.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { EdgeCertificates } from './edge-certificates.ts';
import type { TablePaths } from './edge-options.ts';
import { createEdgeTable } from './edge-table.ts';
import { groupId } from './machine.ts';
import { WORKER_USER } from './machine-options.ts';
import { createServedRows } from './served-rows.ts';
import type { UntoldChanges } from './untold-changes.ts';
import type { Vhost } from './vhost.ts';

/** The websites that nginx serves: their rows, the links of their names, and their certificates. Calls must not overlap. */
export interface EdgeWebsites {
  /**
   * Makes the files those of exactly these websites, for an nginx that starts or hears of it by {@link announce}. A website that
   * cannot be served is logged and keeps its previous row.
   */
  write(vhosts: Vhost[]): Promise<void>;
  /** Writes the files of all websites again. */
  rewrite(): Promise<void>;
  /** Gives the running nginx everything that is written, and removes the certificates that neither a website nor a route uses. */
  announce(): Promise<void>;
  /** Tells nginx what it did not hear of. */
  tell(): Promise<void>;
  put(vhost: Vhost): Promise<void>;
  remove(installId: string): Promise<void>;
  /** The next {@link tell} purges the install's pages. */
  purgeLater(installId: string): void;
  /** Names each website whose files were changed, one sentence each. */
  check(): Promise<string[]>;
  checkWebsite(vhost: Vhost): Promise<string | null>;
  /** Ids of the installs that are served. */
  served(): string[];
  /** Whether a website uses the certificate. */
  usesCertificate(id: string): boolean;
}

export interface EdgeWebsitesOptions {
  layout: LinuxLayout;
  paths: TablePaths;
  certificates: EdgeCertificates;
  /** Whether a route to another host uses the certificate. */
  isRouted(certificateId: string): boolean;
  untold: UntoldChanges;
  edgeHttp: ListenAddress;
  siteDomain: string;
  s3: S3Service;
  log: Logger;
}

/** Work on files at the same time. */
const WRITTEN_AT_ONCE = 16;

export function createEdgeWebsites(options: EdgeWebsitesOptions): EdgeWebsites {
  const { layout, paths, certificates, isRouted, untold, edgeHttp, siteDomain, s3, log } = options;
  const table = createEdgeTable(paths);
  /** As last requested and accepted. */
  const wanted = new Map<string, Vhost>();
  const served = createServedRows();
  /** The install that the link of each name leads to. */
  let links = new Map<string, string>();

  /** Throws a {@link PermanentHostError} that names the website and the problem. */
  function rowFor({ state, uid, lost, held }: Vhost): EdgeRow {
    try {
      checkNames(state);
      return rowOf(state, {
        home: layout.homeOf(state.id),
        root: layout.htdocsOf(state.id),
        php: `unix:${layout.phpSocketOf(state.id)}`,
        uid,
        defaultDomain: `${state.name}.${siteDomain}`,
        s3,
        isClosed: lost !== undefined,
        ...(held === undefined
          ? {}
          : { held: { untilMs: held.until === null ? null : Date.parse(held.until) } }),
      });
    } catch (cause) {
      if (!(cause instanceof PermanentHostError)) throw cause;
      throw new PermanentHostError(`cannot serve the website ${state.name} as requested: ${cause.message}`, {
        cause,
      });
    }
  }

  /** Makes the links of these names lead to the rows that hold them. */
  async function link(names: Iterable<string>): Promise<void> {
    let isChanged = false;
    for (const name of names) {
      const holder = served.holderOf(name);
      if (links.get(name) === holder) continue;
      isChanged = true;
      untold.names();
      await table.setHolder(name, holder ?? null);
      if (holder === undefined) links.delete(name);
      else links.set(name, holder);
    }
    if (isChanged) await table.syncNames();
  }

  /** `kept`: served in their previous state, whatever is requested. */
  async function write(vhosts: Vhost[], kept: EdgeRow[] = []): Promise<void> {
    await table.prepare(await groupId(WORKER_USER));
    await certificates.prepare();
    const before = await table.rows();
    links = await table.holders();
    wanted.clear();
    served.clear();
    for (const row of kept) served.set(row);
    for (const vhost of vhosts) take(vhost, before.get(vhost.state.id));
    await certificates.write([...wanted.values()].flatMap(certificatesOf));
    await mapConcurrent(served.all(), WRITTEN_AT_ONCE, (row) => table.writeRow(row));
    await link(new Set([...links.keys(), ...served.names()]));
    for (const id of await table.ids()) if (served.get(id) === undefined) await table.removeRow(id);
  }

  /** Decides how a website is served from the start. */
  function take(vhost: Vhost, last: EdgeRow | undefined): void {
    const { id, name } = vhost.state;
    try {
      served.set(rowFor(vhost));
      wanted.set(id, vhost);
    } catch (err) {
      if (last !== undefined) served.set(last);
      const then = last !== undefined ? 'is served as it was before' : 'is not served';
      log.error({ err, install: id }, `cannot serve the website ${name} as requested and ${then}`);
    }
  }

  const isUnused = (id: string) => !served.usesCertificate(id) && !isRouted(id);

  /** Removes the certificates of a former row that no row uses any more. */
  async function dropUnused(former: EdgeRow | undefined): Promise<void> {
    const ids = Object.values(former?.names ?? {}).flatMap(({ certificate }) => certificate ?? []);
    await certificates.remove([...new Set(ids)].filter(isUnused));
  }

  /** The reason why nginx does not answer the website's names by its row; null if it does. */
  async function faultOf(row: EdgeRow): Promise<string | null> {
    const name = namesOf(row).find((one) => served.holderOf(one) === row.id);
    // If other websites have all its names, its row is active but not visible.
    if (name === undefined) return null;
    const fault = await ask(edgeHttp, askableName(name), { installId: row.id, revision: row.revision });
    return fault === null ? null : `nginx does not serve ${name} as it should: ${fault}`;
  }

  return {
    write: (vhosts) => write(vhosts),

    rewrite() {
      const kept = served.all().filter(({ id }) => !wanted.has(id));
      return write([...wanted.values()], kept);
    },

    async announce() {
      await certificates.reconcile();
      // nginx reads every row again.
      untold.names();
      await untold.tell();
      const unused = [...(await certificates.ids())].filter(isUnused);
      await certificates.remove(unused);
    },

    tell: () => untold.tell(),

    /** The row is on disk before a name leads to it, and nginx knows before this resolves. */
    async put(vhost) {
      const row = rowFor(vhost);
      await certificates.add(certificatesOf(vhost));
      const before = served.get(row.id);
      if (await table.writeRow(row)) untold.install(row.id);
      wanted.set(row.id, vhost);
      served.set(row);
      await link(new Set([...namesOf(before), ...namesOf(row)]));
      await untold.tell();
      const fault = await faultOf(row);
      if (fault !== null) throw new Error(fault);
      await dropUnused(before);
    },

    async remove(id) {
      const row = served.get(id);
      if (row !== undefined) {
        served.delete(id);
        wanted.delete(id);
        await link(namesOf(row));
        await table.removeRow(id);
        untold.install(id);
        // A new install with this id must not get its pages.
        untold.purge(id);
      }
      await untold.tell();
      await dropUnused(row);
    },

    purgeLater: (id) => untold.purge(id),

    async check() {
      const holders = await table.holders();
      const changed: string[] = [];
      await mapConcurrent(served.all(), WRITTEN_AT_ONCE, async (row) => {
        const names = namesOf(row).filter((name) => served.holderOf(name) === row.id);
        if (names.every((name) => holders.get(name) === row.id) && (await table.isIntact(row))) return;
        changed.push(`the website ${row.name}: its configuration on disk was changed`);
      });
      return changed;
    },

    async checkWebsite(vhost) {
      const row = served.get(vhost.state.id);
      if (row === undefined) return 'nginx does not serve it';
      try {
        if (rowFor(vhost).revision !== row.revision) return 'nginx serves an earlier state of it';
      } catch (error) {
        if (error instanceof PermanentHostError) return error.message;
        throw error;
      }
      return faultOf(row);
    },

    served: () => served.all().map(({ id }) => id),
    usesCertificate: served.usesCertificate,
  };
}

function namesOf(row: EdgeRow | undefined): string[] {
  return Object.keys(row?.names ?? {});
}

function certificatesOf({ state }: Vhost): ServedCertificate[] {
  return state.hostnames.flatMap(({ certificate }) => certificate ?? []);
}

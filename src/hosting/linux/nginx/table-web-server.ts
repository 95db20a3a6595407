import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrent, type Repetition, repeatEvery, serializeByKey } from '../../../lib/concurrency.ts';
import { PermanentHostError, type ServedCertificate } from '../../contract/host.ts';
import { createDefaultCertificate } from '../../policy/default-certificate.ts';
import { type EdgeRow, rowOf } from '../../policy/edge-row.ts';
import { ask } from '../../policy/probe.ts';
import { createAccessLogs } from './access-logs.ts';
import { createChallengeFiles } from './challenge-files.ts';
import { createConfigurationFiles } from './configuration-files.ts';
import { createEdgeControl } from './control-client.ts';
import { createEdgeCertificates } from './edge-certificates.ts';
import { createEdgeConfiguration } from './edge-configuration.ts';
import { tablePaths } from './edge-options.ts';
import { createEdgeTable } from './edge-table.ts';
import { groupId } from './machine.ts';
import { makeFolders, runFiles, WORKER_USER } from './machine-options.ts';
import { askableName, checkKeyStrength, checkNames } from './names.ts';
import { createRunningNginx } from './running-nginx.ts';
import { createServedRows } from './served-rows.ts';
import { createUntoldChanges } from './untold-changes.ts';
import { createUsageLogReader } from './usage-log-reader.ts';
import type { Vhost } from './vhost.ts';
import { explainListening, type WebServer, type WebServerOptions } from './web-server.ts';

const LOOK_EVERY_MS = 30_000;
/** Work on files at the same time. */
const WRITTEN_AT_ONCE = 16;

/**
 * nginx with one configuration for all websites, and a row in a table for each of them. The host still uses the other implementation
 * of {@link WebServer}; tests run both.
 */
export function createTableWebServer(options: WebServerOptions): WebServer {
  const { layout, edgeHttp, edgeHttps, log, clock, instance, siteDomain = 'localhost' } = options;
  const files = createConfigurationFiles(layout.nginx);
  const paths = tablePaths(layout);
  const run = runFiles(layout);
  const control = createEdgeControl(run.controlSocket);
  const table = createEdgeTable(paths);
  const certificates = createEdgeCertificates(paths.certificates, control);
  const untold = createUntoldChanges(control);
  const running = createRunningNginx({
    daemons: options.daemons,
    instance,
    configuration: files.paths.currentFile,
    statusSocket: run.statusSocket,
    sockets: [run.storageSocket, run.controlSocket, run.innerSocket, run.primarySocket],
  });
  const proofs = createChallengeFiles({ folder: layout.proofs, clock });
  const own = createDefaultCertificate({
    file: files.paths.ownCertificate,
    names: [siteDomain, `*.${siteDomain}`],
    clock,
    log,
  });
  const configuration = createEdgeConfiguration({ ...options, files, paths, own });
  const serially = serializeByKey();
  const accessLogs = createAccessLogs({ folder: layout.accessLogs, log });
  const usageLogReader = createUsageLogReader({
    folder: run.usageLogs,
    ledger: options.usage,
    accessLogs,
    reopen: running.reopenLog,
    log,
    ...(options.readUsageEveryMs === undefined ? {} : { everyMs: options.readUsageEveryMs }),
  });
  /** As last requested and accepted. */
  const wanted = new Map<string, Vhost>();
  const served = createServedRows();
  /** The install that the link of each name leads to. */
  let links = new Map<string, string>();
  let looking: Repetition | undefined;

  /** Throws a {@link PermanentHostError} that names the website and the problem. */
  function rowFor({ state, uid }: Vhost): EdgeRow {
    try {
      checkNames(state);
      checkKeyStrength(state);
      return rowOf(state, {
        home: layout.homeOf(state.id),
        root: layout.htdocsOf(state.id),
        php: `unix:${layout.phpSocketOf(state.id)}`,
        uid,
        defaultDomain: `${state.name}.${siteDomain}`,
        s3: options.s3,
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
    for (const name of names) {
      const holder = served.holderOf(name);
      if (links.get(name) === holder) continue;
      untold.names();
      await table.setHolder(name, holder ?? null);
      if (holder === undefined) links.delete(name);
      else links.set(name, holder);
    }
    await table.syncNames();
  }

  /** Serves a row: the row is on disk before a name leads to it, and nginx knows before this resolves. */
  async function serve(vhost: Vhost): Promise<void> {
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
  }

  async function remove(id: string): Promise<void> {
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
  }

  /** Removes the certificates of a former row that no row uses any more. */
  async function dropUnused(former: EdgeRow | undefined): Promise<void> {
    const ids = Object.values(former?.names ?? {}).flatMap(({ certificate }) => certificate ?? []);
    await certificates.remove([...new Set(ids)].filter((id) => !served.usesCertificate(id)));
  }

  /** The reason why nginx does not answer the website's names by its row; null if it does. */
  async function faultOf(row: EdgeRow): Promise<string | null> {
    const name = namesOf(row).find((one) => served.holderOf(one) === row.id);
    // If other websites have all its names, its row is active but not visible.
    if (name === undefined) return null;
    const fault = await ask(edgeHttp, askableName(name), { installId: row.id, revision: row.revision });
    return fault === null ? null : `nginx does not serve ${name} as it should: ${fault}`;
  }

  /** `kept`: served in their previous state, whatever is requested. */
  async function startAll(vhosts: Vhost[], kept: EdgeRow[] = []): Promise<void> {
    await makeFolders(layout, files);
    await table.prepare(await groupId(WORKER_USER));
    await certificates.prepare();
    const before = await table.rows();
    links = await table.holders();
    wanted.clear();
    served.clear();
    for (const row of kept) served.set(row);
    for (const vhost of vhosts) take(vhost, before.get(vhost.state.id));
    const all = [...wanted.values()].filter(({ state }) => served.get(state.id) !== undefined);
    await certificates.write(all.flatMap(certificatesOf));
    await mapConcurrent(served.all(), WRITTEN_AT_ONCE, (row) => table.writeRow(row));
    await link(new Set([...links.keys(), ...served.names()]));
    for (const id of await table.ids()) if (served.get(id) === undefined) await table.removeRow(id);
    await configuration.read();
    const { generation } = await configuration.apply();
    await running.ensure(generation).catch(explainListening);
    await configuration.prune();
    await certificates.reconcile();
    // nginx reads every row again.
    untold.names();
    await untold.tell();
    const unused = [...(await certificates.ids())].filter((id) => !served.usesCertificate(id));
    await certificates.remove(unused);
    await removeLeftovers();
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

  /** The other implementation has a configuration for each website, and keys in another folder. */
  async function removeLeftovers(): Promise<void> {
    for (const name of ['vhosts', 'certificates']) {
      await rm(join(layout.nginx, name), { recursive: true, force: true });
    }
  }

  /** If nginx does not hear of a purge, it must empty the install's cache before anything else. */
  async function purge(id: string, tell: () => Promise<void>): Promise<void> {
    await serially(id, tell).catch((error: unknown) => {
      untold.purge(id);
      throw error;
    });
  }

  /** Work due with time: the edge's own certificate, proofs, and what nginx could not be told. */
  async function look(): Promise<void> {
    await proofs.sweep();
    await serially('nginx', async () => {
      const { generation, fresh } = await configuration.apply();
      if (fresh || !(await running.shows(generation))) await running.reload(generation);
      await untold.tell();
    });
  }

  async function check(): Promise<string[]> {
    const faults: string[] = [];
    const { generation, intact } = await configuration.check();
    if (!intact) faults.push("nginx's configuration on disk was changed");
    if (!(await running.shows(generation))) faults.push('nginx runs with the wrong configuration');
    const holders = await table.holders();
    await mapConcurrent(served.all(), WRITTEN_AT_ONCE, async (row) => {
      const names = namesOf(row).filter((name) => served.holderOf(name) === row.id);
      if (names.every((name) => holders.get(name) === row.id) && (await table.isIntact(row))) return;
      faults.push(`the website ${row.name}: its configuration on disk was changed`);
    });
    return faults;
  }

  async function checkWebsite(vhost: Vhost): Promise<string | null> {
    const row = served.get(vhost.state.id);
    if (row === undefined) return 'nginx does not serve it';
    try {
      if (rowFor(vhost).revision !== row.revision) return 'nginx serves an earlier state of it';
    } catch (error) {
      if (error instanceof PermanentHostError) return error.message;
      throw error;
    }
    return faultOf(row);
  }

  async function repair(): Promise<void> {
    const kept = served.all().filter(({ id }) => !wanted.has(id));
    await startAll([...wanted.values()], kept);
  }

  return {
    async start(vhosts) {
      await serially('nginx', () => startAll(vhosts));
      usageLogReader.start();
      looking = repeatEvery(look, {
        delayMs: options.lookEveryMs ?? LOOK_EVERY_MS,
        onError: (err) => log.error({ err }, 'could not update the web server'),
      });
    },
    put(vhost) {
      accessLogs.resume(vhost.state.id);
      return serially('nginx', () => serve(vhost));
    },
    async remove(installId) {
      await serially('nginx', () => remove(installId));
      await accessLogs.remove(installId);
    },
    purge: (id) => purge(id, () => control.purge(id)),
    purgePages: (id, paths) => purge(id, () => control.purgePages(id, paths)),
    collectUsage: () => usageLogReader.collect(),
    publish: (proof) => proofs.publish(proof),
    withdraw: (proof) => proofs.withdraw(proof),
    sweepProofs: () => proofs.sweep(),
    check: () => serially('nginx', check),
    checkWebsite: (vhost) => serially('nginx', () => checkWebsite(vhost)),
    repair: () => serially('nginx', repair),
    served: () => served.all().map(({ id }) => id),
    ports: () => ({ http: edgeHttp.port, https: edgeHttps.port }),
    async stop() {
      await looking?.stop();
      await usageLogReader.stop();
      await serially('nginx', () => Promise.resolve());
    },
  };
}

function namesOf(row: EdgeRow | undefined): string[] {
  return Object.keys(row?.names ?? {});
}

function certificatesOf({ state }: Vhost): ServedCertificate[] {
  return state.hostnames.flatMap(({ certificate }) => certificate ?? []);
}

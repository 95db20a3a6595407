import type { Logger } from 'pino';
import type { AddressRange, ListenAddress } from '../../../config/settings/setting-values.ts';
import type { Clock } from '../../../lib/clock.ts';
import { mapConcurrent, type Repetition, repeatEvery, serializeByKey } from '../../../lib/concurrency.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { S3Service } from '../../../network/object-storage/s3-address.ts';
import { PermanentHostError, type Proof } from '../../contract/host.ts';
import { createDefaultCertificate } from '../../policy/default-certificate.ts';
import { ask } from '../../policy/probe.ts';
import type { UsageLedger } from '../../policy/usage/ledger.ts';
import type { Daemons } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { createAccessLogs } from './access-logs.ts';
import { createChallengeFiles } from './challenge-files.ts';
import { type AskedChanges, createChanges, type Settle } from './changes.ts';
import { type Configured, createConfiguration, type RenderedVhosts } from './configuration.ts';
import { createConfigurationFiles } from './configuration-files.ts';
import { type MachineOptions, makeFolders, readMachineOptions, runFiles } from './machine-options.ts';
import { askableName, checkNames } from './names.ts';
import { createPageCache } from './page-cache.ts';
import { renderMain } from './render-main.ts';
import { type RenderedVhost, renderVhost } from './render-vhost.ts';
import { createRunningNginx } from './running-nginx.ts';
import { createUsageLogReader } from './usage-log-reader.ts';
import type { Vhost } from './vhost.ts';
import { createWantedWebsites } from './wanted-websites.ts';

/** nginx in front of all websites of this host. */
export interface WebServer {
  /**
   * Starts serving exactly these websites. One that nginx refuses is logged and keeps its previous state, without affecting the
   * others. A repeated call restores everything to this state.
   */
  start(vhosts: Vhost[]): Promise<void>;
  /**
   * Serves a website in this state. Resolves once nginx does. If the state is refused, rejects with a {@link PermanentHostError}
   * that says why, and the website is served as before.
   */
  put(vhost: Vhost): Promise<void>;
  /** Stops serving it, and removes its page cache and access log. Succeeds if it is missing. */
  remove(installId: string): Promise<void>;
  /** Empties an install's page cache at once. */
  purge(installId: string): Promise<void>;
  /** Purges the pages with these paths, or more, at once. */
  purgePages(installId: string, paths: readonly string[]): Promise<void>;
  /** Counts the requests that nginx has logged so far. */
  collectUsage(): Promise<void>;
  publish(proof: Proof): Promise<void>;
  withdraw(proof: Pick<Proof, 'hostname' | 'path'>): Promise<void>;
  /** Removes expired proofs. This also happens regularly. */
  sweepProofs(): Promise<void>;
  /** Faults of nginx and of the files of all websites, one sentence each. */
  check(): Promise<string[]>;
  /** Difference between this state and what is served, one sentence; null if there is none. */
  checkWebsite(vhost: Vhost): Promise<string | null>;
  /** Repairs what {@link check} reports, for the websites last requested. */
  repair(): Promise<void>;
  /** Ids of the installs that are served. */
  served(): string[];
  ports(): { http: number; https: number };
  /** Ends this process's work for nginx. The daemons' supervisor ends nginx itself. */
  stop(): Promise<void>;
}

export interface WebServerOptions {
  layout: LinuxLayout;
  daemons: Daemons;
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: AddressRange[];
  /** DNS servers for the names of object storage; null: the machine's. */
  resolvers: ListenAddress[] | null;
  s3: S3Service;
  log: Logger;
  clock: Clock;
  instance: string;
  /** Names of the certificate for names without one; `localhost` if left out. */
  siteDomain?: string;
  /** PEM file of root certificates for object storage; the machine's if left out. */
  storageRoots?: string;
  /** Milliseconds between checks for expired certificates and proofs; 30 s if left out. */
  lookEveryMs?: number;
  /** Counts the requests. Belongs to the caller, who starts and stops it. */
  usage: UsageLedger;
  /** Milliseconds between readings of the requests; 10 s if left out. */
  readUsageEveryMs?: number;
}

const LOOK_EVERY_MS = 30_000;
const WRITTEN_AT_ONCE = 16;

export function createWebServer(options: WebServerOptions): WebServer {
  const { layout, edgeHttp, edgeHttps, log, clock, instance, siteDomain = 'localhost' } = options;
  const files = createConfigurationFiles(layout.nginx);
  const { paths } = files;
  const { storageSocket, statusSocket, usageLogs } = runFiles(layout);
  const running = createRunningNginx({
    daemons: options.daemons,
    instance,
    configuration: paths.currentFile,
    statusSocket,
    sockets: [storageSocket],
  });
  const proofs = createChallengeFiles({ folder: layout.proofs, clock });
  const pageCache = createPageCache({ cacheOf: layout.cacheOf, log });
  const own = createDefaultCertificate({
    file: paths.ownCertificate,
    names: [siteDomain, `*.${siteDomain}`],
    clock,
    log,
  });
  const configuration = createConfiguration({
    files,
    render: async (vhostFiles) =>
      renderMain({ ...started(), ownFingerprint: (await own.ensure()).fingerprint }, vhostFiles),
    log,
  });
  const serially = serializeByKey();
  const wanted = createWantedWebsites(clock);
  const changes = createChanges({ alone: (turn) => serially('nginx', turn), serve });
  const accessLogs = createAccessLogs({ folder: layout.accessLogs, log });
  const usageLogReader = createUsageLogReader({
    folder: usageLogs,
    ledger: options.usage,
    accessLogs,
    reopen: running.reopenLog,
    log,
    ...(options.readUsageEveryMs === undefined ? {} : { everyMs: options.readUsageEveryMs }),
  });
  let inForce: RenderedVhosts = new Map();
  let machineOptions: MachineOptions | null = null;
  let looking: Repetition | undefined;

  function started(): MachineOptions {
    if (machineOptions === null) throw new Error('the web server has not been started');
    return machineOptions;
  }

  /** Throws a {@link PermanentHostError} that names the website and the problem. */
  function render({ state }: Vhost): RenderedVhost {
    try {
      checkNames(state);
      return renderVhost(state, started(), clock.now());
    } catch (cause) {
      if (!(cause instanceof PermanentHostError)) throw cause;
      throw new PermanentHostError(`cannot serve the website ${state.name} as requested: ${cause.message}`, {
        cause,
      });
    }
  }

  /** False if everything on disk was already right. */
  async function write({ state }: Vhost, rendered: RenderedVhost): Promise<boolean> {
    let written = false;
    for (const { certificate } of state.hostnames) {
      if (certificate !== null && (await files.writeCertificate(certificate))) written = true;
    }
    return (await files.writeVhost(rendered)) || written;
  }

  /** Applies the changes with at most one reload. */
  async function serve(asked: AskedChanges, settle: Settle): Promise<void> {
    const open = new Map(asked);
    const next = new Map(inForce);
    const changed: RenderedVhost[] = [];
    let written = false;
    for (const [id, vhost] of asked) {
      if (vhost === null) {
        next.delete(id);
        continue;
      }
      try {
        const rendered = render(vhost);
        if (await write(vhost, rendered)) written = true;
        next.set(id, rendered);
        changed.push(rendered);
      } catch (error) {
        settle(id, error);
        open.delete(id);
      }
    }
    const configured = await configuration.apply(next, changed, inForce);
    inForce = configured.vhosts;
    await takeOver(configured, written);
    for (const [id, refusal] of configured.refused) {
      settle(id, refusalOf(asked.get(id)?.state.name ?? id, refusal));
      open.delete(id);
    }
    for (const [id, vhost] of open) wanted.remember(id, vhost);
    for (const [id, vhost] of open) settle(id, vhost === null ? null : await confirm(vhost));
  }

  /** Makes nginx run the configuration on disk. `written`: a file that it has already read was written again. */
  async function takeOver({ generation, fresh }: Configured, written: boolean): Promise<void> {
    if (fresh || written || !(await running.shows(generation))) await running.reload(generation);
  }

  /** Null if nginx serves the website as last rendered. */
  async function confirm(vhost: Vhost): Promise<Error | null> {
    const fault = await faultOf(vhost);
    return fault === null ? null : new Error(fault);
  }

  /** The reason why nginx does not answer the website's names as last rendered; null if it does. */
  async function faultOf({ state }: Vhost): Promise<string | null> {
    const rendered = inForce.get(state.id);
    const name = state.hostnames.find((one) => wanted.holderOf(one.name) === state.id)?.name;
    // If another website has all its names, its configuration is active but not visible.
    if (rendered === undefined || name === undefined) return null;
    const marker = { installId: state.id, revision: rendered.revision };
    const fault = await ask(edgeHttp, askableName(name), marker);
    return fault === null ? null : `nginx does not serve ${name} as it should: ${fault}`;
  }

  /** `kept`: served in their previous state, whatever is requested. */
  async function startAll(vhosts: Vhost[], kept: RenderedVhosts = new Map()): Promise<void> {
    await makeFolders(layout, files);
    machineOptions = await readMachineOptions({ ...options, files });
    const before = await files.currentVhosts();
    const next = new Map(kept);
    const changed: RenderedVhost[] = [];
    let written = false;
    wanted.clear();
    await mapConcurrent(vhosts, WRITTEN_AT_ONCE, async (vhost) => {
      const { id, name } = vhost.state;
      try {
        const rendered = render(vhost);
        if (await write(vhost, rendered)) written = true;
        next.set(id, rendered);
        if (before.get(id)?.revision !== rendered.revision) changed.push(rendered);
        wanted.remember(id, vhost);
      } catch (err) {
        const last = before.get(id);
        if (last !== undefined) next.set(id, last);
        logRefusal(err, id, name, last !== undefined);
      }
    });
    const configured = await configuration.apply(next, changed, before);
    inForce = configured.vhosts;
    for (const [id, refusal] of configured.refused) {
      const name = wanted.nameOf(id);
      wanted.remember(id, null);
      logRefusal(refusalOf(name, refusal), id, name, inForce.has(id));
    }
    const readBefore = await running.shows(configured.generation);
    await running.ensure(configured.generation).catch(explainListening);
    if (written && readBefore) await running.reload(configured.generation);
  }

  function logRefusal(err: unknown, install: string, name: string, servedAsBefore: boolean): void {
    const then = servedAsBefore ? 'is served as it was before' : 'is not served';
    log.error({ err, install }, `cannot serve the website ${name} as requested and ${then}`);
  }

  /** Work due with time: expired certificates and proofs. */
  async function look(): Promise<void> {
    await proofs.sweep();
    await Promise.all(wanted.due().map((vhost) => changes.submit(vhost.state.id, vhost)));
    await serially('nginx', async () => {
      await takeOver(await configuration.apply(inForce, [], inForce), false);
    });
  }

  async function check(): Promise<string[]> {
    const faults: string[] = [];
    const { generation, text } = await configuration.mainFor(inForce);
    if (text !== (await files.currentText())) faults.push("nginx's configuration on disk was changed");
    if (!(await running.shows(generation))) {
      faults.push('nginx runs with the wrong configuration');
    }
    await mapConcurrent([...inForce], WRITTEN_AT_ONCE, async ([id, rendered]) => {
      if (await files.isIntact(rendered)) return;
      faults.push(`the website ${wanted.nameOf(id)}: its configuration on disk was changed`);
    });
    return faults;
  }

  async function checkWebsite(vhost: Vhost): Promise<string | null> {
    const rendered = inForce.get(vhost.state.id);
    if (rendered === undefined) return 'nginx does not serve it';
    try {
      if (render(vhost).revision !== rendered.revision) return 'nginx serves an earlier state of it';
    } catch (error) {
      if (error instanceof PermanentHostError) return error.message;
      throw error;
    }
    return faultOf(vhost);
  }

  async function repair(): Promise<void> {
    const kept = [...inForce].filter(([id]) => !wanted.has(id));
    await startAll(wanted.all(), new Map(kept));
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
      return changes.submit(vhost.state.id, vhost);
    },
    async remove(installId) {
      if (inForce.has(installId) || changes.isWaiting(installId)) await changes.submit(installId, null);
      await pageCache.remove(installId);
      await accessLogs.remove(installId);
    },
    purge: (installId) => pageCache.purge(installId),
    purgePages: (installId) => pageCache.purge(installId),
    collectUsage: () => usageLogReader.collect(),
    publish: (proof) => proofs.publish(proof),
    withdraw: (proof) => proofs.withdraw(proof),
    sweepProofs: () => proofs.sweep(),
    check: () => serially('nginx', check),
    checkWebsite: (vhost) => serially('nginx', () => checkWebsite(vhost)),
    repair: () => serially('nginx', repair),
    served: () => [...inForce.keys()],
    ports: () => ({ http: edgeHttp.port, https: edgeHttps.port }),
    async stop() {
      pageCache.stop();
      await looking?.stop();
      await usageLogReader.stop();
      await serially('nginx', () => Promise.resolve());
    },
  };
}

function refusalOf(name: string, refusal: string): PermanentHostError {
  return new PermanentHostError(`nginx refuses the configuration of the website ${name}: ${refusal}`);
}

/** Names the setting if nginx cannot listen on an address. */
export function explainListening(cause: unknown): never {
  const text = messageOf(cause);
  const place = /bind\(\) to (\S+) failed \(\d+: ([^)]*)\)/.exec(text);
  if (place === null) throw cause;
  throw new OperatorError(
    `Cannot serve the hosted sites on ${place[1]}: ${place[2]} (settings HOMEPORT_EDGE_HTTP and HOMEPORT_EDGE_HTTPS).`,
    { cause },
  );
}

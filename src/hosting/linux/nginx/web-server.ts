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
import type { Daemons } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { createChallengeFiles } from './challenge-files.ts';
import { type AskedChanges, createChanges, type Settle } from './changes.ts';
import { type Configured, createConfiguration, type RenderedVhosts } from './configuration.ts';
import { createConfigurationFiles } from './configuration-files.ts';
import { askableName, checkNames } from './names.ts';
import { createPageCache } from './page-cache.ts';
import { renderMain } from './render-main.ts';
import { type RenderedVhost, renderVhost } from './render-vhost.ts';
import { createRunningNginx } from './running-nginx.ts';
import { makeFolders, runFiles, type StandingOptions, standingOptions } from './standing-options.ts';
import type { Vhost } from './vhost.ts';
import { createWantedWebsites } from './wanted-websites.ts';

/** nginx in front of all websites of this host. */
export interface WebServer {
  /**
   * Begins to serve these websites and no others. One that nginx refuses is logged and served as it last was, if it was, and keeps
   * none of the others from being served. Called again it brings everything back to this state.
   */
  start(vhosts: Vhost[]): Promise<void>;
  /**
   * Serves a website so. Resolves once nginx answers with just this. Rejects with a {@link PermanentHostError} that says what is
   * wrong if it is refused; it is then served as before.
   */
  put(vhost: Vhost): Promise<void>;
  /** Serves it no more, and takes its page cache away. Removing what is not there is success. */
  remove(installId: string): Promise<void>;
  /** Empties the page cache of an install, at once. */
  purge(installId: string): Promise<void>;
  publish(proof: Proof): Promise<void>;
  withdraw(proof: Pick<Proof, 'hostname' | 'path'>): Promise<void>;
  /** Removes proofs that have ended. It happens by itself, too. */
  sweepProofs(): Promise<void>;
  /** What of nginx, and of the files of all websites, is not as it should be; one sentence each. */
  check(): Promise<string[]>;
  /** What keeps this website from being served just so, one sentence; null if nothing does. */
  checkWebsite(vhost: Vhost): Promise<string | null>;
  /** Brings back what {@link check} looks at, for the websites that were last asked for. */
  repair(): Promise<void>;
  /** The installs that are served, by id. */
  served(): string[];
  ports(): { http: number; https: number };
  /** Ends what this process does for nginx. nginx itself is the daemons' to end. */
  stop(): Promise<void>;
}

export interface WebServerOptions {
  layout: LinuxLayout;
  daemons: Daemons;
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  /** Proxies whose `X-Forwarded-For` names the visitor. */
  trustedProxies: AddressRange[];
  /** DNS servers for the names of object storage; null: the machine's. */
  resolvers: ListenAddress[] | null;
  s3: S3Service;
  log: Logger;
  clock: Clock;
  instance: string;
  /** What the certificate for names without one of their own is for; `localhost` if left out. */
  siteDomain?: string;
  /** Roots (PEM file) that the object storage's certificate is checked with; the machine's if left out. */
  storageRoots?: string;
  /** How often certificates and proofs that have ended are looked for, in milliseconds; 30 s if left out. */
  lookEveryMs?: number;
}

const LOOK_EVERY_MS = 30_000;
const WRITTEN_AT_ONCE = 16;

export function createWebServer(options: WebServerOptions): WebServer {
  const { layout, edgeHttp, edgeHttps, log, clock, instance, siteDomain = 'localhost' } = options;
  const files = createConfigurationFiles(layout.nginx);
  const { paths } = files;
  const { storageSocket, statusSocket } = runFiles(layout);
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
  let inForce: RenderedVhosts = new Map();
  let standing: StandingOptions | null = null;
  let looking: Repetition | undefined;

  function started(): StandingOptions {
    if (standing === null) throw new Error('the web server has not been started');
    return standing;
  }

  /** Throws a {@link PermanentHostError} that names the website and what is wrong with it. */
  function render({ state }: Vhost): RenderedVhost {
    try {
      checkNames(state);
      return renderVhost(state, started(), clock.now());
    } catch (cause) {
      if (!(cause instanceof PermanentHostError)) throw cause;
      throw new PermanentHostError(`the website ${state.name} cannot be served as asked: ${cause.message}`, {
        cause,
      });
    }
  }

  /** False if all of it was on disk as it should be. */
  async function write({ state }: Vhost, rendered: RenderedVhost): Promise<boolean> {
    let written = false;
    for (const { certificate } of state.hostnames) {
      if (certificate !== null && (await files.writeCertificate(certificate))) written = true;
    }
    return (await files.writeVhost(rendered)) || written;
  }

  /** Serves what is asked for, with one reload at most. */
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

  /** Has nginx run with what is on disk. `written`: a file that it has read already was written anew. */
  async function takeOver({ generation, fresh }: Configured, written: boolean): Promise<void> {
    if (fresh || written || !(await running.shows(generation))) await running.reload(generation);
  }

  /** Null if nginx serves the website as it was last rendered. */
  async function confirm(vhost: Vhost): Promise<Error | null> {
    const fault = await faultOf(vhost);
    return fault === null ? null : new Error(fault);
  }

  /** What keeps nginx from answering the website's names as it was last rendered; null if nothing does. */
  async function faultOf({ state }: Vhost): Promise<string | null> {
    const rendered = inForce.get(state.id);
    const name = state.hostnames.find((one) => wanted.holderOf(one.name) === state.id)?.name;
    // One whose names are all another's is in force without being seen.
    if (rendered === undefined || name === undefined) return null;
    const marker = { installId: state.id, revision: rendered.revision };
    const fault = await ask(edgeHttp, askableName(name), marker);
    return fault === null ? null : `nginx does not serve ${name} as it should: ${fault}`;
  }

  /** `kept`: served as they last were, whatever is asked for. */
  async function startAll(vhosts: Vhost[], kept: RenderedVhosts = new Map()): Promise<void> {
    await makeFolders(layout, files);
    standing = await standingOptions({ ...options, files });
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
    log.error({ err, install }, `the website ${name} cannot be served as it should be and ${then}`);
  }

  /** What time brings: certificates and proofs that have ended. */
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
      faults.push('nginx does not run with the configuration that it should have');
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
      looking = repeatEvery(look, {
        delayMs: options.lookEveryMs ?? LOOK_EVERY_MS,
        onError: (err) => log.error({ err }, 'the web server could not be brought up to date'),
      });
    },
    put: (vhost) => changes.submit(vhost.state.id, vhost),
    async remove(installId) {
      if (inForce.has(installId) || changes.isWaiting(installId)) await changes.submit(installId, null);
      await pageCache.remove(installId);
    },
    purge: (installId) => pageCache.purge(installId),
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
      await serially('nginx', () => Promise.resolve());
    },
  };
}

function refusalOf(name: string, refusal: string): PermanentHostError {
  return new PermanentHostError(`nginx refuses the configuration of the website ${name}: ${refusal}`);
}

/** Says whose setting it is that nginx cannot listen where it should. */
function explainListening(cause: unknown): never {
  const text = messageOf(cause);
  const place = /bind\(\) to (\S+) failed \(\d+: ([^)]*)\)/.exec(text);
  if (place === null) throw cause;
  throw new OperatorError(
    `The hosted sites cannot be served on ${place[1]}: ${place[2]} (settings HOMEPORT_EDGE_HTTP and HOMEPORT_EDGE_HTTPS).`,
    { cause },
  );
}

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { showsOwnCertificate } from '../../api/api-certificate.ts';
import { API_PREFIX } from '../../api/prefixes.ts';
import { certificateFileForClients } from '../../api/public-certificate.ts';
import { prepareDataFolder } from '../../app/data-folder.ts';
import { fillDemo, writeDemo } from '../../app/demo.ts';
import { ensureOwner } from '../../app/first-start.ts';
import { type Roles, type RunningHomeport, startHomeport } from '../../app/homeport.ts';
import { LONGEST_STOP_MS } from '../../app/shutdown.ts';
import type { Config } from '../../config/config.ts';
import { untilOtherProgram } from '../../database/other-program.ts';
import { isDatabaseFault, unusableDatabase } from '../../database/unusable.ts';
import { messageOf } from '../../lib/error-message.ts';
import { hostAndPort } from '../../lib/host-and-port.ts';
import { untakenSockets } from '../../network/connections/inherited-sockets.ts';
import { checkSealingKey } from '../doctor/sealing-key.ts';
import { supervisesHere } from '../host/beside.ts';
import { tellSupervisor } from '../host/server-process.ts';
import { supervise } from '../host/supervise.ts';
import { firstSignIn } from '../platform/first-sign-in.ts';
import { createLog } from '../platform/log.ts';
import { type ProvidedPortal, providePortal } from '../platform/portal-build.ts';
import { endSoon, killAfter } from '../platform/process-end.ts';
import { provideNextProgram } from '../platform/program-build.ts';
import { returnMemory } from '../platform/returned-memory.ts';
import { announcing, notifyServiceManager } from '../platform/service-manager.ts';
import { lockWebsitesSoon } from '../platform/websites-lock.ts';
import { startWordPress } from '../platform/wordpress-start.ts';
import { alignedPairs, heading } from '../terminal/output.ts';
import { stopSignal } from '../terminal/stop-signals.ts';
import { createWaitProgress } from '../terminal/wait-progress.ts';

const GRACE_MS = 10_000;
/** How long the credentials of a first start wait on a terminal, so that they are its last lines. */
const LAST_LINES_MS = 5_000;
/** Of WordPress, because the installs of the demo stay static if it is not ready for them. */
const DEMO_ATTEMPTS = 3;

interface ServeOptions {
  roles: Roles;
  demo: boolean;
  buildPortal: boolean;
}

/**
 * Serves until a signal ends it. `settings`: the file of `--config`. `unsupervised`: whether a supervisor has started this
 * process. Throws OperatorError.
 */
export async function serve(
  config: Config,
  {
    settings,
    unsupervised,
    ...options
  }: ServeOptions & { settings: string | undefined; unsupervised: boolean },
): Promise<void> {
  const log = await createLog(config);
  if (!unsupervised && supervisesHere(config)) {
    process.exitCode = await supervise(config, { settings, withHost: options.roles.hosting, log });
    return;
  }
  let failed: string[] = [];
  let left: string | null = null;
  try {
    ({ failed, left } = await serveHere(config, log, options));
  } catch (error) {
    throw isDatabaseFault(error) ? unusableDatabase(config, error) : error;
  }
  if (left !== null) process.stderr.write(`homeport: ${left}\n`);
  if (failed.length === 0 && left === null) return endSoon(log);
  if (failed.length > 0)
    process.stderr.write(`homeport: stopped with errors: ${failed.join(', ')}. The log has the reasons.\n`);
  // Open handles would keep the process alive.
  process.exit(1);
}

/** Serves in this process. Returns the names of the parts that failed to stop, and why it has left the database without a signal, or null. */
async function serveHere(
  config: Config,
  log: Logger,
  { roles, demo, buildPortal }: ServeOptions,
): Promise<{ failed: string[]; left: string | null }> {
  const lock = roles.hosting && config.host === 'embedded' ? await lockHere(config) : null;
  const stopping = new AbortController();
  const portal = buildPortal && roles.api ? await findPortal(config, stopping.signal) : undefined;
  const portalFolder = portal?.build ?? portal?.folder;
  const surroundings = {
    log,
    announce: announcing(log),
    ...(portalFolder !== undefined && { portalFolder }),
  };
  const homeport = await startHomeport(config, surroundings, roles).catch((error: unknown) => {
    stopping.abort();
    throw error;
  });
  // Before the first output, so that a reader of it can stop the process.
  const stop = stopSignal('finishing running requests and jobs').then(() => null);
  const other = untilOtherProgram(homeport.platform.database, stopping.signal);
  const ended = Promise.race([stop, other]).then(async (left) => {
    killAfter(LONGEST_STOP_MS, log);
    void notifyServiceManager('STOPPING=1', log);
    stopping.abort();
    return { left, failed: await homeport.stop(GRACE_MS) };
  });
  const first = await ensureOwner(homeport.platform, homeport.services);
  const hasDemo = demo && (await createDemo(config, homeport, stopping.signal));
  await warnOfOtherKey(config, homeport, log);
  const onTerminal = process.stdout.isTTY;
  const signIn = first && homeport.api ? await firstSignIn(config, first, { onTerminal }) : null;
  process.stdout.write(banner(config, homeport, onTerminal ? null : signIn));
  tellSupervisor();
  await notifyServiceManager('READY=1', log);
  for (const address of untakenSockets())
    log.warn(
      { address },
      'systemd holds a socket for an address that no setting has, so connections to it wait in vain. Correct homeport.socket; on a Linux host, "homeport host setup" does',
    );
  returnMemory();
  const built = reportBuild(portal?.build ?? null, log, stopping.signal);
  // One after the other, because each shows its progress, and a small machine has work enough with one.
  const prepared = built.then(async () => {
    if (stopping.signal.aborted) return;
    if (buildPortal) void provideNextProgram(log);
    if (demo) return;
    await prepareWordPress(config, homeport, { first: first !== undefined, stopping: stopping.signal });
  });
  if (onTerminal && signIn !== null) {
    // The link leads to the portal.
    await Promise.race([built, ended]);
    await Promise.race([prepared, ended, sleep(LAST_LINES_MS, undefined, { ref: false })]);
    process.stdout.write(`\n${signIn}`);
  }
  if (hasDemo) void finishDemo(homeport, stopping.signal);
  const outcome = await ended;
  lock?.release();
  return outcome;
}

const lockHere = (config: Config) =>
  lockWebsitesSoon(config, {
    pause: () => sleep(200),
    report: (sentence) => process.stderr.write(`homeport: ${sentence}\n`),
  });

/** Whether the host of this process is to run WordPress and can. */
async function prepareWordPress(
  { host, embeddedPhpMb }: Config,
  { platform, prepareWordPress }: RunningHomeport,
  attempt: { first: boolean; attempts?: number; stopping: AbortSignal },
): Promise<boolean> {
  if (prepareWordPress === undefined || host !== 'embedded' || embeddedPhpMb === 0) return false;
  const { clock, log } = platform;
  try {
    return await startWordPress(prepareWordPress, {
      ...attempt,
      clock,
      progress: process.stderr,
      result: process.stdout,
    });
  } catch (err) {
    if (!attempt.stopping.aborted) log.error({ err }, 'WordPress could not be made ready for new installs');
    return false;
  }
}

/** Creates the demo's installs, of files where WordPress cannot run. Returns whether content is to follow. */
async function createDemo(
  config: Config,
  homeport: RunningHomeport,
  stopping: AbortSignal,
): Promise<boolean> {
  const ended = new Promise<null>((resolve) => stopping.addEventListener('abort', () => resolve(null)));
  const prepared = prepareWordPress(config, homeport, { first: true, attempts: DEMO_ATTEMPTS, stopping });
  const ready = await Promise.race([prepared, ended]);
  if (ready === null) return false;
  const { platform, services } = homeport;
  const runtime = config.host === 'embedded' ? (ready ? 'wordpress' : 'static') : null;
  return (await fillDemo(platform, services, runtime)) && ready;
}

async function finishDemo(homeport: RunningHomeport, stopping: AbortSignal): Promise<void> {
  try {
    const addresses = await writeDemo(homeport, stopping);
    process.stdout.write(`The demo has its content: ${addresses.join(' and ')}\n`);
  } catch (err) {
    if (!stopping.aborted) homeport.platform.log.error({ err }, 'the demo has no content');
  }
}

/** Builds into the data folder if this user cannot write to `web/dist`. */
function findPortal({ dataDir }: Config, signal: AbortSignal): Promise<ProvidedPortal> {
  prepareDataFolder(dataDir);
  return providePortal({ otherwise: join(dataDir, 'portal'), signal });
}

/** Shows a build of the portal beside the running server. Never rejects. */
async function reportBuild(
  build: ProvidedPortal['build'],
  log: Logger,
  stopping: AbortSignal,
): Promise<void> {
  if (build === null) return;
  const progress = createWaitProgress('Building the portal, once after each update', process.stderr);
  progress.begin();
  try {
    await build;
    progress.end();
    process.stderr.write('The portal was built.\n');
  } catch (err) {
    progress.end();
    if (stopping.aborted) return;
    log.error({ err }, 'the portal could not be built');
    process.stderr.write(`homeport: ${messageOf(err)}\n`);
  }
}

/** A restore without the key creates a new one, and the private keys sealed with the old one are lost. */
async function warnOfOtherKey(config: Config, { platform }: RunningHomeport, log: Logger): Promise<void> {
  const { state, message, remedy } = await checkSealingKey(config, platform.database);
  if (state === 'problem') log.error({ remedy }, message);
}

function banner(config: Config, homeport: RunningHomeport, signIn: string | null): string {
  const { api, hosting } = homeport;
  const base = `${config.publicUrl}${API_PREFIX}`;
  const pairs: [string, string][] = [];
  if (api) {
    pairs.push(
      ['Portal', `${config.publicUrl}/`],
      ['API', base],
      ['Documents', `${config.publicUrl}/docs`],
      ['Listening on', hostAndPort(api)],
    );
    if (showsOwnCertificate(config)) pairs.push(['Certificate', certificateFileForClients(config.dataDir)]);
  }
  if (hosting) {
    pairs.push(
      ['Sites', `http://<name>.${config.siteDomain}:${hosting.edgeHttp.port}/`],
      ['SFTP', hostAndPort(hosting.ssh)],
    );
  }
  pairs.push(['Data', config.dataDir]);
  const parts = [heading('Homeport is running'), alignedPairs(pairs)];
  if (signIn !== null) parts.push(signIn);
  parts.push('Ctrl-C ends it.\n');
  return parts.join('\n');
}

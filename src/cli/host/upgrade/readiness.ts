import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config, ListenAddress } from '../../../config/config.ts';
import { createSystemctl, type UnitStatus } from '../../../hosting/linux/daemons/systemctl.ts';
import { CONTROL_PLANE_UNIT } from '../../../hosting/linux/setup/service-unit.ts';

const LOOK_EVERY_MS = 1_000;
const ANSWER_MS = 10_000;
/** A version that ends soon after its start is not ready. */
const STEADY_MS = 5_000;
/** Starts that end before the service is ready. The second one tells a fault of the version from one that passes. */
const FAILED_STARTS = 2;

/** The present starts of services, which {@link becomeReady} later takes for those of the version before. */
export async function startsOf(services: readonly string[]): Promise<string[]> {
  return (await createSystemctl('systemctl').show(services))
    .map(({ invocation }) => invocation)
    .filter((start) => start !== '');
}

/**
 * Waits until the services run and the API is ready, and stay so for some seconds. A service that still runs as one of the starts `before` is
 * that of the version before. False if that does not happen in time, or if a service keeps failing, because visitors wait meanwhile.
 */
export async function becomeReady(
  services: readonly string[],
  config: Pick<Config, 'listen'>,
  { waitMs, before }: { waitMs: number; before: readonly string[] },
): Promise<boolean> {
  const began = performance.now();
  const look = () => createSystemctl('systemctl').show(services);
  do {
    const shown = await look();
    if (shown.some((service) => keepsFailing(service, before))) return false;
    const first = await readyStarts(shown, config, before);
    if (first !== null) {
      await pause(STEADY_MS);
      if ((await readyStarts(await look(), config, before)) === first) return true;
    }
    await pause(LOOK_EVERY_MS);
  } while (performance.now() - began < waitMs);
  return false;
}

/** The starts of the services; null if one is not ready. */
async function readyStarts(
  shown: readonly UnitStatus[],
  { listen }: Pick<Config, 'listen'>,
  before: readonly string[],
): Promise<string | null> {
  if (!shown.every((service) => isNewStart(service, before))) return null;
  if (shown.some(({ id }) => id === CONTROL_PLANE_UNIT) && !(await isReady(listen))) return null;
  return shown.map(({ invocation }) => invocation).join(' ');
}

/** Whether a version has ended again and again before it was ready. systemd counts its restarts since the one that the package's script requests. */
export const keepsFailing = (
  { activeState, invocation, restarts }: Pick<UnitStatus, 'activeState' | 'invocation' | 'restarts'>,
  before: readonly string[],
): boolean => activeState !== 'active' && !before.includes(invocation) && restarts >= FAILED_STARTS;

/** Whether a service runs, and has been started since. The package's script only warns if it could not restart a service. */
export const isNewStart = (
  { activeState, invocation }: { activeState: string; invocation: string },
  before: readonly string[],
): boolean => activeState === 'active' && !before.includes(invocation);

/** `GET /readyz` on this machine. */
function isReady({ host, port }: ListenAddress): Promise<boolean> {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return new Promise((resolve) => {
    const asked = request(
      {
        host: local,
        port,
        path: '/readyz',
        servername: 'localhost',
        // Nothing secret is sent.
        rejectUnauthorized: false,
        agent: false,
        signal: AbortSignal.timeout(ANSWER_MS),
      },
      (response) => response.resume().once('close', () => resolve(response.statusCode === 200)),
    );
    asked.on('error', () => resolve(false)).end();
  });
}

import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config, ListenAddress } from '../../../config/config.ts';
import { createSystemctl } from '../../../hosting/linux/daemons/systemctl.ts';
import { CONTROL_PLANE_UNIT } from '../../../hosting/linux/setup/service-unit.ts';

const LOOK_EVERY_MS = 1_000;
const ANSWER_MS = 10_000;
/** A version that ends soon after its start is not ready. */
const STEADY_MS = 5_000;

/** Waits until the services run and the API is ready, and stay so for some seconds. False if that does not happen in time. */
export async function becomeReady(
  services: readonly string[],
  config: Pick<Config, 'listen'>,
  waitMs: number,
): Promise<boolean> {
  const began = performance.now();
  do {
    const first = await readyProcesses(services, config);
    if (first !== null) {
      await pause(STEADY_MS);
      if ((await readyProcesses(services, config)) === first) return true;
    }
    await pause(LOOK_EVERY_MS);
  } while (performance.now() - began < waitMs);
  return false;
}

/** The processes of the services; null if one is not ready. */
async function readyProcesses(
  services: readonly string[],
  { listen }: Pick<Config, 'listen'>,
): Promise<string | null> {
  const shown = await createSystemctl('systemctl').show(services);
  if (shown.some(({ activeState }) => activeState !== 'active')) return null;
  if (services.includes(CONTROL_PLANE_UNIT) && !(await isReady(listen))) return null;
  return shown.map(({ mainPid }) => mainPid).join(' ');
}

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

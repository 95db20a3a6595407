import { request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config, ListenAddress } from '../../../config/config.ts';
import { createSystemctl, type UnitStatus } from '../../../hosting/linux/daemons/systemctl.ts';
import { isWorking } from '../../../hosting/linux/setup/service-start.ts';
import { CONTROL_PLANE_UNIT } from '../../../hosting/linux/setup/service-unit.ts';
import { MAY_TAKE_LONG } from '../../../lib/start-steps.ts';
import { createPatience } from './patience.ts';

const ANSWER_MS = 10_000;
/** `steadyMs`: a version that ends sooner after its start is not ready. */
const TIMES = { lookEveryMs: 1_000, steadyMs: 5_000 };
/** Starts that end before the service is ready. The second one tells a fault of the version from one that passes. */
const FAILED_STARTS = 2;

/** The present starts of services, which {@link whyNotReady} later takes for those of the version before. */
export async function startsOf(services: readonly string[]): Promise<string[]> {
  return (await createSystemctl('systemctl').show(services))
    .map(({ invocation }) => invocation)
    .filter((start) => start !== '');
}

/**
 * Waits until the services run and the API is ready, and stay so for some seconds. A service that still runs as one of the starts `before` is
 * that of the version before. Returns null, or the reason to give up: a service keeps failing, or takes too long (see {@link createPatience}).
 */
export async function whyNotReady(
  services: readonly string[],
  config: Pick<Config, 'listen'>,
  { waitMs, before, report, systemctl = 'systemctl', times }: Waiting,
): Promise<string | null> {
  const { lookEveryMs, steadyMs } = { ...TIMES, ...times };
  const system = createSystemctl(systemctl);
  const patience = new Map(services.map((id) => [id, createPatience(waitMs, () => performance.now())]));
  const announced = new Map<string, string>();
  let unsteady = 0;
  const look = async () => {
    const shown = await system.show(services);
    return { shown, api: await readinessOf(shown, config, before) };
  };
  for (;;) {
    const { shown, api } = await look();
    for (const { id, statusText } of shown) {
      if (statusText !== '' && announced.get(id) !== statusText) report(`${id}: ${statusText}`);
      announced.set(id, statusText);
    }
    const failing = shown.find((service) => keepsFailing(service, before));
    if (failing !== undefined) return `${failing.id} has ended ${failing.restarts} times before it was ready`;
    if (api === 'ready' && shown.every((service) => isNewStart(service, before))) {
      await pause(steadyMs);
      const later = await look();
      const isSame = startsIn(later.shown) === startsIn(shown);
      if (isSame && later.api === 'ready') return null;
      if (!isSame && ++unsteady === FAILED_STARTS) return 'a service ends soon after it was ready';
    }
    for (const service of shown) {
      const isApi = service.id === CONTROL_PLANE_UNIT;
      if (isNewStart(service, before) && !(isApi && api !== 'ready')) continue;
      const reason = patience.get(service.id)?.({
        step: `${service.invocation} ${service.activeState} ${service.statusText}`,
        mayTakeLong: service.statusText.endsWith(MAY_TAKE_LONG),
        isAlive: (isApi && api === 'answers') || (await isWorking(service.mainPid)),
      });
      if (reason) return `${service.id} ${reason}`;
    }
    await pause(lookEveryMs);
  }
}

interface Waiting {
  /** Of a step of the start. */
  waitMs: number;
  before: readonly string[];
  /** Gets what the services announce. */
  report(line: string): void;
  /** Tests use their own. */
  systemctl?: string;
  times?: Partial<typeof TIMES>;
}

const startsIn = (shown: readonly UnitStatus[]) => shown.map(({ invocation }) => invocation).join(' ');

/** The answer of the API once its service runs; `ready` also without that service. */
async function readinessOf(
  shown: readonly UnitStatus[],
  { listen }: Pick<Config, 'listen'>,
  before: readonly string[],
): Promise<'ready' | 'answers' | 'silent'> {
  const service = shown.find(({ id }) => id === CONTROL_PLANE_UNIT);
  if (service === undefined) return 'ready';
  return isNewStart(service, before) ? askReadiness(listen) : 'silent';
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
function askReadiness({ host, port }: ListenAddress): Promise<'ready' | 'answers' | 'silent'> {
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
      (response) =>
        response.resume().once('close', () => resolve(response.statusCode === 200 ? 'ready' : 'answers')),
    );
    asked.on('error', () => resolve('silent')).end();
  });
}

import { isRunning, type UnitStatus } from '../../../hosting/linux/daemons/systemctl.ts';
import {
  CONTROL_PLANE_SOCKET,
  CONTROL_PLANE_UNIT,
  HOST_UNIT,
} from '../../../hosting/linux/setup/service-unit.ts';
import { OperatorError } from '../../../lib/operator-error.ts';

const SERVICES = [HOST_UNIT, CONTROL_PLANE_UNIT];
/** Units of Homeport on a machine. */
export const UNITS = [...SERVICES, CONTROL_PLANE_SOCKET];

/**
 * The services that an upgrade has to find ready afterwards. A control plane that is stopped behind its socket is one of them: the next
 * connection starts it, and it would migrate the database without a copy for the return.
 */
export function servingUnits(shown: readonly Pick<UnitStatus, 'id' | 'activeState'>[]): string[] {
  const running = shown.filter(isRunning).map(({ id }) => id);
  return SERVICES.filter(
    (unit) =>
      running.includes(unit) || (unit === CONTROL_PLANE_UNIT && running.includes(CONTROL_PLANE_SOCKET)),
  );
}

/** Throws OperatorError if a service was started since the upgrade looked, so that its database would be migrated without a copy. */
export function requireSameServices(before: readonly string[], now: readonly string[]): void {
  const started = now.filter((unit) => !before.includes(unit));
  if (started.length === 0) return;
  throw new OperatorError(
    `${started.join(' and ')} was started meanwhile. Run "homeport upgrade" again. Nothing was changed.`,
  );
}

import type { Change } from '../../../platform/activity-log.ts';
import type { AccessEvent } from './jobs.ts';

/** As what a change of a person's own is told to them by mail; undefined: they are not told. */
export function toldAs({ action, details, isFirst = false }: Change): AccessEvent['kind'] | undefined {
  switch (action) {
    case 'password.change':
      return 'password_changed';
    case 'password.set':
      return isFirst ? undefined : 'password_set';
    case 'second_factor.enable':
      return 'second_factor_on';
    case 'second_factor.disable':
      return 'second_factor_off';
    case 'second_factor.renew_codes':
      return 'recovery_codes_renewed';
    case 'second_factor.refuse':
      return 'wrong_codes';
    case 'session.create':
      return details?.second_factor === 'recovery_code' ? 'recovery_code_used' : undefined;
    case 'credential.create':
      return 'credential_created';
    case 'ssh_key.create':
      return 'ssh_key_added';
    case 'profile.update':
      return details?.from === undefined ? undefined : 'email_changed';
    default:
      return undefined;
  }
}

import type { DeletedInstall } from './store.ts';

/** A deleted install for the API. */
export function presentDeleted({ id, name, kept, state, reason, deleted_at, expires_at }: DeletedInstall) {
  return {
    ...{ id, name, environment: kept.environment },
    domains: kept.domains.map((domain) => domain.name),
    backup_count: kept.backups.length,
    state: state === 'kept' ? ('restorable' as const) : state,
    ...{ reason, deleted_at, expires_at },
  };
}

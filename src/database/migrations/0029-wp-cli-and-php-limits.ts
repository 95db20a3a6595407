import type { ColumnTypes } from './column-types.ts';

/** Commands of WP-CLI with their outputs, and the PHP limits of installs. */
export function wpCliAndPhpLimits(t: ColumnTypes): string[] {
  return [
    `create table wp_cli_runs (
      seq ${t.seq},
      id ${t.uuid} not null constraint wp_cli_runs__id unique,
      operation_id ${t.uuid} not null constraint wp_cli_runs__operation_id unique,
      install_id ${t.uuid} not null references installs (id) on delete cascade,
      sealed_args ${t.text},
      exit_status ${t.integer},
      sealed_output ${t.text},
      created_at ${t.time} not null,
      ended_at ${t.time}
    )`,
    'create index wp_cli_runs_install on wp_cli_runs (install_id, seq)',
    'create index wp_cli_runs_age on wp_cli_runs (ended_at)',
    `alter table installs add column php_limits ${t.json}`,
  ];
}

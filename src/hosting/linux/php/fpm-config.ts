import { PHP_WITHIN_SECONDS, type PhpSettings } from '../../../lib/php-limits.ts';
import { bodyMb, effectivePhp, PHP_RANGES, phpBounds } from '../../policy/php-limits.ts';
import { foldersOf, SANDBOX_COMPILED, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { ResourceLimits } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** Path at which the process manager itself answers. nginx only passes on files that end in `.php`, so visitors cannot use it. */
export const PING_PATH = '/homeport-ping';

/** The file in the private folder that PHP writes errors to. */
export const ERROR_LOG = 'php-error.log';

/** The limits of an install whose users and operator changed none. */
export function standardPhp(limits: ResourceLimits): PhpSettings {
  return effectivePhp(phpBounds(PHP_RANGES, limits), null);
}

/** The configuration of an install's PHP-FPM, with paths as the sandbox sees them. */
export function fpmConfig(layout: LinuxLayout, install: SandboxedInstall, php: PhpSettings): string {
  const settings: [section: string, settings: Record<string, string | number>][] = [
    [
      'global',
      {
        // --force-stderr sends the messages to standard error. The default log file could not be opened.
        error_log: '/dev/null',
        log_level: 'warning',
        // How long requests may go on during a stop; less than the time after which a daemon is killed.
        process_control_timeout: '8s',
      },
    ],
    ['website', poolSettings(layout, install, php)],
  ];
  return settings
    .map(([section, entries]) => {
      const lines = Object.entries(entries).map(([name, value]) => `${name} = ${value}\n`);
      return `[${section}]\n${lines.join('')}`;
    })
    .join('');
}

function poolSettings(
  layout: LinuxLayout,
  install: SandboxedInstall,
  php: PhpSettings,
): Record<string, string | number> {
  const folders = foldersOf(layout, install);
  return {
    listen: layout.phpSocketOf(install.id),
    // The access list of the socket's folder decides who reaches the socket.
    'listen.mode': '0666',
    pm: 'ondemand',
    'pm.max_children': php.workers,
    'pm.process_idle_timeout': '60s',
    'pm.max_requests': 1000,
    request_terminate_timeout: `${PHP_WITHIN_SECONDS}s`,
    'ping.path': PING_PATH,
    // The sandbox has already emptied the environment and set what PHP needs.
    clear_env: 'no',
    'php_admin_value[error_log]': quoted(`${folders.private}/${ERROR_LOG}`),
    'php_admin_flag[log_errors]': 'on',
    'php_flag[display_errors]': 'off',
    // A website can raise it up to its cgroup's limit.
    'php_value[memory_limit]': `${php.memoryMb}M`,
    'php_value[upload_max_filesize]': `${php.uploadMb}M`,
    'php_value[post_max_size]': `${bodyMb(php.uploadMb)}M`,
    'php_value[max_execution_time]': php.seconds,
    'php_value[max_input_vars]': php.inputVars,
    // On disk: `/tmp` is memory of the install.
    'php_admin_value[upload_tmp_dir]': quoted(folders.uploads),
    // Debian's default folder is emptied by a cron job of the machine; this one belongs to the sandbox.
    'php_value[session.save_path]': '/tmp',
    'php_value[session.gc_probability]': 1,
  };
}

/** Settings that PHP reads only at start, so the pool configuration cannot hold them: `-d` and `name=value` for each. */
export function startSettings(
  { memoryMb }: ResourceLimits,
  { compiledCore }: Pick<SandboxedInstall, 'compiledCore'> = {},
): string[] {
  const settings: Record<string, string | number> = {
    expose_php: 0,
    'cgi.fix_pathinfo': 0,
    'opcache.enable': 1,
    // A core takes 17 MB, plugins as much or more. PHP allocates it on demand.
    'opcache.memory_consumption': Math.max(16, Math.min(96, Math.floor(memoryMb / 4))),
    'opcache.interned_strings_buffer': 8,
    'opcache.max_accelerated_files': 10_000,
    'opcache.validate_timestamps': 1,
    'opcache.revalidate_freq': 2,
    ...(compiledCore === undefined ? {} : { 'opcache.file_cache': SANDBOX_COMPILED }),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-d', `${name}=${value}`]);
}

/** Quotes a path from the operator's settings, so that INI syntax in it has no effect. */
function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

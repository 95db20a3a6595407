import { foldersOf, SANDBOX_COMPILED, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { ResourceLimits } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** The path at which PHP's process manager itself answers. Web servers ask it for files that end in `.php` only. */
export const PING_PATH = '/homeport-ping';

/** What a request takes at most, as do uploads: the web server has the same limit. */
const UPLOAD = '64M';

/** What a page may take, in MiB. Websites may ask for more, up to what their cgroup lets them have. */
const PAGE_MEMORY_MB = 256;

/** Roughly what an active worker takes for itself (measured: 7 MB private, up to 50 MB with large plugins). */
const WORKER_MEMORY_MB = 48;
const FEWEST_WORKERS = 2;
const MOST_WORKERS = 16;

/** The configuration of an install's own PHP-FPM, as the sandbox sees it. */
export function fpmConfig(layout: LinuxLayout, install: SandboxedInstall, limits: ResourceLimits): string {
  const settings: [section: string, settings: Record<string, string | number>][] = [
    [
      'global',
      {
        // Its own messages go to its standard error, by --force-stderr; the default is a file that it could not open.
        error_log: '/dev/null',
        log_level: 'warning',
        // So long requests may go on when it is to end; less than what a daemon is given before it is killed.
        process_control_timeout: '8s',
      },
    ],
    ['website', poolSettings(layout, install, limits)],
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
  limits: ResourceLimits,
): Record<string, string | number> {
  const folders = foldersOf(layout, install);
  return {
    listen: layout.phpSocketOf(install.id),
    // Who gets as far as to the socket is for the list of its folder to say.
    'listen.mode': '0666',
    pm: 'ondemand',
    'pm.max_children': workersFor(limits),
    'pm.process_idle_timeout': '60s',
    'pm.max_requests': 1000,
    request_terminate_timeout: '300s',
    'ping.path': PING_PATH,
    // The sandbox has emptied it already, and has set what PHP is to know.
    clear_env: 'no',
    'php_admin_value[error_log]': quoted(`${folders.private}/php-error.log`),
    'php_admin_flag[log_errors]': 'on',
    'php_flag[display_errors]': 'off',
    'php_value[memory_limit]': `${Math.min(PAGE_MEMORY_MB, limits.memoryMb)}M`,
    'php_value[upload_max_filesize]': UPLOAD,
    'php_value[post_max_size]': UPLOAD,
    'php_value[max_execution_time]': 120,
    'php_value[max_input_vars]': 5000,
    // Debian empties its folder by a cron job of the machine; this one is the sandbox's own.
    'php_value[session.save_path]': '/tmp',
    'php_value[session.gc_probability]': 1,
  };
}

function workersFor({ memoryMb, processes }: ResourceLimits): number {
  const most = Math.min(MOST_WORKERS, Math.floor(processes / 2));
  return Math.max(FEWEST_WORKERS, Math.min(most, Math.floor(memoryMb / WORKER_MEMORY_MB)));
}

/** What is decided when PHP starts, and so cannot stand among the settings of its pool: `-d` and `name=value` for each. */
export function startSettings(
  { memoryMb }: ResourceLimits,
  { compiledCore }: Pick<SandboxedInstall, 'compiledCore'> = {},
): string[] {
  const settings: Record<string, string | number> = {
    expose_php: 0,
    'cgi.fix_pathinfo': 0,
    'opcache.enable': 1,
    // A core takes 17 MB, plugins as much again or more. It is taken as it is needed.
    'opcache.memory_consumption': Math.max(16, Math.min(96, Math.floor(memoryMb / 4))),
    'opcache.interned_strings_buffer': 8,
    'opcache.max_accelerated_files': 10_000,
    'opcache.validate_timestamps': 1,
    'opcache.revalidate_freq': 2,
    ...(compiledCore === undefined ? {} : { 'opcache.file_cache': SANDBOX_COMPILED }),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-d', `${name}=${value}`]);
}

/** Folders come from the operator's settings: what INI would take for syntax is kept from it. */
function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

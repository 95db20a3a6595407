import type { PhpSiteLimits } from '../wasm/php-sites.ts';

/**
 * Extensions that WordPress, the SQLite plugin and imports need. `intl` and others are used where they are. `gd` or `imagick` is needed, too: without
 * both, WordPress makes no smaller pictures, and a new host would get less than in WebAssembly.
 */
const NEEDED_EXTENSIONS = [
  'curl',
  'dom',
  'json',
  'mbstring',
  // For phpMyAdmin, whose connection is that of the SQLite plugin.
  'mysqli',
  'openssl',
  'pdo_sqlite',
  'sockets',
  'sqlite3',
  'tokenizer',
  'xml',
  'zip',
  'Zend OPcache',
];

/** Debian's packages of needed extensions, without `php-`. The others come with PHP itself. */
const PACKAGES: Readonly<Record<string, string>> = {
  curl: 'curl',
  dom: 'xml',
  gd: 'gd',
  mbstring: 'mbstring',
  mysqli: 'mysql',
  pdo_sqlite: 'sqlite3',
  sqlite3: 'sqlite3',
  xml: 'xml',
  zip: 'zip',
  'Zend OPcache': 'opcache',
};

/** Those that PHP needs besides the `present` ones. `present`: names in lower case. */
export function missingExtensions(present: ReadonlySet<string>): string[] {
  const missing = NEEDED_EXTENSIONS.filter((name) => !present.has(name.toLowerCase()));
  const hasPictures = present.has('gd') || present.has('imagick');
  return hasPictures ? missing : [...missing, 'gd'];
}

/** Debian's packages with these extensions. `version`: of PHP, `major.minor`. */
export function packagesOf(extensions: readonly string[], version: string): string[] {
  const names = extensions.flatMap((extension) => PACKAGES[extension] ?? []);
  return [...new Set(names)].map((name) => `php${version}-${name}`);
}

/** Extensions that are loaded if they are there, those that others need first. None of them starts programs or loads code of the machine. */
const LOADED_EXTENSIONS = [
  ...['curl', 'ctype', 'dom', 'exif', 'fileinfo', 'iconv', 'intl', 'mbstring', 'pdo', 'pdo_sqlite', 'phar'],
  ...['posix', 'simplexml', 'sodium', 'sqlite3', 'tokenizer', 'xml', 'xmlreader', 'xmlwriter', 'zip'],
  ...['gd', 'gettext', 'bcmath', 'gmp', 'calendar', 'igbinary', 'imagick', 'mysqlnd', 'mysqli', 'pdo_mysql'],
  ...['openssl', 'soap', 'sockets', 'xsl'],
];

/**
 * Functions that start programs, make links, send mail past the platform, or work on where PHP-FPM ends no request: after its answer, or while
 * it is stopped. The sandbox refuses the first two as well.
 */
const DISABLED = [
  ...['dl', 'exec', 'passthru', 'popen', 'proc_open', 'shell_exec', 'system', 'mail', 'link', 'symlink'],
  ...['pcntl_exec', 'pcntl_fork', 'pcntl_rfork', 'pcntl_unshare', 'posix_mkfifo', 'posix_mknod'],
  ...['fastcgi_finish_request', 'posix_kill'],
];

/** Where the sandbox shows the settings of PHP. */
export const SETTINGS = '/homeport/etc';

/** The lines that load extensions. `files`: names in PHP's folder of extensions. */
export function extensionLines(files: readonly string[]): string {
  const present = LOADED_EXTENSIONS.filter((name) => files.includes(`${name}.so`));
  const opcache = files.includes('opcache.so') ? ['zend_extension=opcache.so'] : [];
  return [...opcache, ...present.map((name) => `extension=${name}.so`)].join('\n');
}

/** PHP's own settings. Those of the machine are not read. */
export function phpIni(extensions: string, { memoryMb, uploadMb, inputVars }: PhpSiteLimits): string {
  const settings: Record<string, string | number> = {
    memory_limit: `${memoryMb}M`,
    upload_max_filesize: `${uploadMb}M`,
    post_max_size: `${uploadMb + 1}M`,
    // PHP counts processor time only. The host ends what takes longer.
    max_execution_time: 0,
    max_input_vars: inputVars,
    display_errors: 0,
    display_startup_errors: 0,
    html_errors: 0,
    log_errors: 1,
    error_log: '/private/php-error.log',
    expose_php: 0,
    enable_dl: 0,
    'ffi.enable': 0,
    disable_functions: DISABLED.join(','),
    'session.save_path': '/tmp',
    'session.gc_probability': 1,
    upload_tmp_dir: '/tmp',
    sys_temp_dir: '/tmp',
    output_buffering: 4096,
    variables_order: '"EGPCS"',
    'cgi.fix_pathinfo': 0,
    'fastcgi.logging': 1,
    // A file of the website could take away what the platform runs before each script.
    'user_ini.filename': '',
    auto_prepend_file: `${SETTINGS}/prepend.php`,
    'opcache.memory_consumption': 64,
    'opcache.max_accelerated_files': 10_000,
    'opcache.validate_timestamps': 1,
    'opcache.revalidate_freq': 2,
    'opcache.jit': 'off',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `${extensions}\n${lines.join('\n')}\n`;
}

/** The configuration of the process manager, which writes its messages to standard error in place of the log. */
export function fpmConf({ seconds, threads }: PhpSiteLimits, socket: string): string {
  return `[global]
error_log = /dev/null
log_level = warning
[website]
listen = ${socket}
listen.backlog = 128
; On demand, a request that arrives while a worker starts waits until that worker is free, even for a page that waits for this request.
pm = static
pm.max_children = ${threads}
pm.max_requests = 2000
request_terminate_timeout = ${seconds}s
clear_env = no
`;
}

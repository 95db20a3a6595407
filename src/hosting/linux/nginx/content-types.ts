import mime from 'mime-types';

/** Always contains `text/html`. */
const CHARSET_TYPES = [
  'text/css',
  'text/csv',
  'text/javascript',
  'text/markdown',
  'text/plain',
  'text/vtt',
  'text/xml',
  'application/javascript',
  'application/json',
  'application/manifest+json',
  'application/rss+xml',
  'image/svg+xml',
];

/** Types that are compressed. Always contains `text/html`. */
export const COMPRESSED_TYPES = [
  ...CHARSET_TYPES,
  'application/atom+xml',
  'application/ld+json',
  'application/vnd.ms-fontobject',
  'application/wasm',
  'application/xhtml+xml',
  'application/xml',
  'font/otf',
  'font/ttf',
  'image/bmp',
  'image/x-icon',
  'image/vnd.microsoft.icon',
];

/** Content types by file name, with those that state a character set and those that are compressed. */
export function renderContentTypes(): string {
  return `charset utf-8;
charset_types ${CHARSET_TYPES.join(' ')};
default_type application/octet-stream;
types_hash_max_size 8192;
types {
${renderTypes()}
}

gzip on;
gzip_vary on;
gzip_proxied any;
gzip_comp_level 4;
gzip_min_length 512;
gzip_types ${COMPRESSED_TYPES.join(' ')};`;
}

function renderTypes(): string {
  const extensions = Map.groupBy(Object.entries(mime.types), ([, type]) => type);
  return [...extensions]
    .map(([type, entries]) => `    ${type} ${entries.map(([extension]) => extension).join(' ')};`)
    .join('\n');
}

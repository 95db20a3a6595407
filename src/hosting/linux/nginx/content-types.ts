import mime from 'mime-types';
import { COMPRESSED_TYPES, SMALLEST_COMPRESSED, TEXT_TYPES } from '../../policy/compression.ts';

/** Content types by file name, with those that state a character set and those that are compressed. */
export function renderContentTypes(): string {
  return `charset utf-8;
charset_types ${TEXT_TYPES.join(' ')};
default_type application/octet-stream;
types_hash_max_size 8192;
types {
${renderTypes()}
}

gzip on;
gzip_vary on;
gzip_proxied any;
gzip_comp_level 4;
gzip_min_length ${SMALLEST_COMPRESSED};
gzip_types ${COMPRESSED_TYPES.join(' ')};`;
}

function renderTypes(): string {
  const extensions = Map.groupBy(Object.entries(mime.types), ([, type]) => type);
  return [...extensions]
    .map(([type, entries]) => `    ${type} ${entries.map(([extension]) => extension).join(' ')};`)
    .join('\n');
}

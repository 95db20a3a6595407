import { extname } from 'node:path';
import mime from 'mime-types';

/** Content-Type for a file of that name, with a charset for text. */
export function contentTypeOf(fileName: string): string {
  const extension = extname(fileName);
  // mime-types treats a name without a dot as an extension.
  return (extension === '' ? false : mime.contentType(extension)) || 'application/octet-stream';
}

/** Whether the type is a page (page cache) or an asset (CDN cache). */
export function isPage(contentType: string): boolean {
  return contentType.startsWith('text/html') || contentType === 'application/xhtml+xml';
}

/**
 * Programs. This host does not run them and never serves their source, which often contains a password.
 * `.user.ini` and `.htaccess` are hidden as dot-files.
 */
export function isProgram(fileName: string): boolean {
  return /\.(php\d?|phtml|phar|phps|pht|inc)(\.(bak|old|orig|save|swp))?~?$/i.test(fileName);
}

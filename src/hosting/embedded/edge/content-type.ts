import { extname } from 'node:path';
import mime from 'mime-types';

/** Content-Type for a file of that name, with a charset for text. */
export function contentTypeOf(fileName: string): string {
  const extension = extname(fileName);
  // mime-types takes a name without a dot for a type.
  return (extension === '' ? false : mime.contentType(extension)) || 'application/octet-stream';
}

/** Whether it is a page (kept in the page cache) or something that pages are made of (kept in the CDN cache). */
export function isPage(contentType: string): boolean {
  return contentType.startsWith('text/html') || contentType === 'application/xhtml+xml';
}

/**
 * Programs. This host does not run them, and their source, often with a password in it, is nobody's to read.
 * `.user.ini` and `.htaccess` are hidden as dot-files.
 */
export function isProgram(fileName: string): boolean {
  return /\.(php\d?|phtml|phar|phps|pht|inc)(\.(bak|old|orig|save|swp))?~?$/i.test(fileName);
}

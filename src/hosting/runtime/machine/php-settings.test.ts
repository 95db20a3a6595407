import { expect, test } from 'vitest';
import { missingExtensions, packagesOf } from './php-settings.ts';

/** The extensions of php-fpm, php-curl, php-mbstring, php-mysql, php-sqlite3 and php-xml. */
const BASE = ['curl', 'dom', 'json', 'mbstring', 'mysqli', 'openssl', 'pdo_sqlite', 'sockets', 'sqlite3'];
const present = (...more: string[]) => new Set([...BASE, 'tokenizer', 'xml', 'zend opcache', ...more]);

test('a PHP without zip, or without both extensions for pictures, is not taken', () => {
  expect(missingExtensions(present('gd', 'zip'))).toEqual([]);
  expect(missingExtensions(present('imagick', 'zip'))).toEqual([]);
  expect(missingExtensions(present())).toEqual(['zip', 'gd']);
  expect(packagesOf(['zip', 'gd', 'sqlite3', 'pdo_sqlite', 'json'], '8.2')).toEqual([
    ...['php8.2-zip', 'php8.2-gd', 'php8.2-sqlite3'],
  ]);
});

/** Runs before each test file. What it imports runs once in each worker. */
import './own-imports.ts';
import './without-source-maps.ts';

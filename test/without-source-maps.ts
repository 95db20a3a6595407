/**
 * Vitest has Node look for a source map in each module, and in each function that is made from a text, such as those of routes and schemas.
 * There is none: types are stripped in place, so lines and columns are right without. A server starts with a tenth less processor time.
 */
process.setSourceMapsEnabled(false);

/** Forbids circles between folders. Tests are excluded, because they start whole servers. */
import layers from './.dependency-cruiser.mjs';

export default {
  forbidden: [
    {
      name: 'no-circles-of-folders',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    ...layers.options,
    exclude: {
      path: [layers.options.exclude.path, '(\\.|-)(test|fixture)\\.tsx?$'],
    },
  },
};

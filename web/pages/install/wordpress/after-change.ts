import type { OperationWords } from '../../../components/toast.tsx';

/**
 * The messages after a change of a plugin or theme. If pages only look different, they may know why: `keep` makes the change
 * again without a rollback.
 */
export function afterChange(done: string, keep: () => void): Omit<OperationWords, 'busy'> {
  return {
    done: (result) => (result?.warning ? { warning: `${done} But note: ${result.warning}.` } : done),
    retry: (code) =>
      code === 'pages_differ' ? { label: 'Change it again and keep it', onSelect: keep } : undefined,
  };
}

import type { OperationWords } from '../../../components/toast.tsx';

/**
 * The messages after a change or an update of plugins and themes. If pages only look different, they may know why: `keep` makes the change
 * again without a rollback. `again` names that change.
 */
export function afterChange(done: string, again: string, keep: () => void): Omit<OperationWords, 'busy'> {
  return {
    done,
    retry: (code) =>
      code === 'pages_differ' ? { label: `${again} despite the differences`, onSelect: keep } : undefined,
  };
}

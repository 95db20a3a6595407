import { showFailure, showSuccess, showUndo } from './toast.tsx';

/** Confirms a change, and offers to undo it for a while. `undo` takes it back, and returns the sentence that says so. */
export function offerUndo(sentence: string, undo: () => Promise<string>): void {
  showUndo(sentence, () => void undo().then(showSuccess, showFailure));
}

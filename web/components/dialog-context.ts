import { createContext } from 'react';

/** What a form knows of the dialog that it stands in. */
interface DialogContext {
  close(): void;
  /** A form that has come later than the dialog takes the focus, unless somebody has gone on with something else. */
  begin?(form: HTMLFormElement): void;
  /** Until the returned function is called, something is being sent, and Escape does not close the dialog over it. */
  hold(): () => void;
}

export const DialogContext = createContext<DialogContext | null>(null);

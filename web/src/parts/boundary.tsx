/** A part of the page that fails without the rest: it says so, and can be tried again. */

import { Component, type ReactNode } from "react";
import { useAround } from "../lib/session";
import { Broken, Reload } from "./states";

interface Props {
  /** Where another value is shown, what failed before is forgotten. */
  about: string;
  children: ReactNode;
}

/** Catches what fails while its children are shown. What fails in an act is the act's own matter, see `useAct`. */
export class Boundary extends Component<Props, { error: unknown; failed: boolean }> {
  override state = { error: undefined as unknown, failed: false };

  static getDerivedStateFromError(error: unknown) {
    return { error, failed: true };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.failed && before.about !== this.props.about) this.again();
  }

  again = () => this.setState({ error: undefined, failed: false });

  override render() {
    return this.state.failed ? <Fallen error={this.state.error} again={this.again} /> : this.props.children;
  }
}

function Fallen({ error, again }: { error: unknown; again: () => void }) {
  const { t } = useAround();
  return (
    <Broken title={t("broken")} why={t("broken.about")}>
      <button type="button" className="accent" onClick={again}>{t("again")}</button>
      <Reload />
      <p className="hint">{t("broken.told", { message: error instanceof Error ? error.message : String(error) })}</p>
    </Broken>
  );
}

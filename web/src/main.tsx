/** The page's beginning. */

import { createRoot } from "react-dom/client";
import { App } from "./app";
import { AroundProvider } from "./lib/session";
import "./style.css";

const root = document.getElementById("root");
if (root) createRoot(root).render(<AroundProvider><App /></AroundProvider>);

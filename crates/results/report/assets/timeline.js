// Draws a timeline, and lets it be zoomed and panned. Everything shown comes from the JSON beside it.

(() => {
  // Kinds of spans by their numbers: see kinds.rs.
  const KINDS = JSON.parse(document.getElementById("kinds").textContent);
  // Heights of the axis and of a lane, which the style sheet gives to the names beside them; in a lane the top and the height of a bar,
  // and where the critical path runs; the width of a letter, about.
  const [AXIS, LANE, BAR, HIGH, PATH, LETTER] = [24, 38, 8, 18, 31, 6.4];

  const escaped = (text) =>
    String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const figure = (us) => (us >= 1000 ? us.toFixed(0) : us >= 100 ? us.toFixed(1) : us.toFixed(2));
  // As many decimals as tell a time from one a step away.
  const time = (us, step) => {
    const [value, of, unit] = us >= 2000 ? [us / 1000, step / 1000, "ms"] : [us, step, "us"];
    let decimals = 0;
    for (let last = 1; last > of * 1.001 && decimals < 6; last /= 10) decimals++;
    return `${value.toFixed(decimals)} ${unit}`;
  };
  const px = (value) => Math.round(value * 10) / 10;

  // What keeps a label legible on stripes.
  const pill = (label, middle, top) => {
    const wide = px(label.length * LETTER + 3);
    return `<rect class="pill" x="${px(middle - wide / 2)}" y="${top + 2.5}" width="${wide}" height="13" rx="3"/>`;
  };

  // First index whose item does not satisfy `before`.
  const search = (items, before) => {
    let [low, high] = [0, items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(items[middle])) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  function unpack(picture) {
    const lanes = picture.lanes.map((packed, index) => {
      const spans = [];
      let at = packed.t;
      for (let i = 0; i < packed.d.length; i += 3) {
        const [length, what, more] = packed.d.slice(i, i + 3);
        if (KINDS[what].form !== "gap") {
          const wait = KINDS[what].isCause && more ? picture.waits[more - 1] : null;
          spans.push({
            lane: index,
            from: at,
            to: at + length,
            what,
            more,
            holder: wait?.[0] ?? null,
            on: wait?.[1] ?? null,
          });
        }
        at += length;
      }
      const calls = [];
      at = 0;
      for (let i = 0; i < packed.c.length; i += 3) {
        at += packed.c[i];
        calls.push({ from: at, to: at + packed.c[i + 1], name: picture.calls[packed.c[i + 2]] });
      }
      return { name: packed.n, sub: packed.s, place: packed.p, spans, calls };
    });
    const axes = picture.axes.map((axis) => {
      const kept = axis.kept;
      const sum = kept.reduce((sum, [from, to]) => sum + to - from, 0);
      const fold = axis.fold;
      let at = 0;
      const starts = kept.map(([from, to]) => {
        const start = at;
        at += to - from + fold;
        return start;
      });
      const place = (tick) => {
        const i = search(kept, ([, to]) => to < tick);
        if (i === kept.length) return sum + fold * (kept.length - 1);
        const [from] = kept[i];
        if (tick >= from) return starts[i] + tick - from;
        if (i === 0) return 0;
        const end = kept[i - 1][1];
        return starts[i] - fold * (1 - (tick - end) / (from - end));
      };
      const shows = (from, to) => kept.some(([begin, end]) => from < end && begin < to);
      return { ...axis, place, shows, width: sum + fold * (kept.length - 1) };
    });
    return { ...picture, lanes, axes };
  }

  // The view in the address: the case, and after it what sets its timeline apart from how it was at first. A link leads to what its
  // writer saw, and the way back leads to what was seen before.
  const address = {
    // The states of all timelines that are not as they were, by case.
    all: {},
    waiting: 0,
    applying: false,
    save() {
      clearTimeout(this.waiting);
      if (this.applying) return;
      for (const [name, timeline] of alive) {
        const state = timeline.state;
        if (state === (this.all[name] ?? "")) continue;
        this.all = { ...this.all, [name]: state };
        history.pushState(this.all, "", `#${name}${state && `&${state}`}`);
      }
    },
    // Of one movement of wheel or hand one step is kept.
    saveLater() {
      clearTimeout(this.waiting);
      if (!this.applying) this.waiting = setTimeout(() => this.save(), 350);
    },
    apply(states) {
      this.applying = true;
      for (const name of new Set([...Object.keys(states), ...Object.keys(this.all)])) {
        const root = document.querySelector(`[data-timeline="${CSS.escape(name)}"]`);
        if (root && (states[name] ?? "") !== (this.all[name] ?? "")) wake(root).state = states[name] ?? "";
      }
      this.all = states;
      this.applying = false;
    },
    // At first, and after a link within the page or an address that was typed.
    follow() {
      const [name, ...parts] = decodeURI(location.hash.slice(1)).split("&");
      const state = parts.join("&");
      if (state) {
        this.apply({ ...this.all, [name]: state });
        // No element is called by all of the address.
        document.getElementById(name)?.scrollIntoView();
      }
      history.replaceState(this.all, "");
    },
  };

  class Timeline {
    constructor(root) {
      this.root = root;
      this.choices = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
      this.pictures = this.choices.map(() => null);
      this.detail = root.querySelector(".detail");
      this.detail.hidden = false;
      this.drawn = root.querySelector(".drawn");
      this.drawn.innerHTML =
        "<p class=axis-title></p><div class=stage><ol class=names></ol><svg class=plot width=100% tabindex=0 role=application aria-roledescription=timeline></svg></div>";
      [this.title, this.stage] = this.drawn.children;
      [this.names, this.svg] = this.stage.children;
      this.article = root.closest("article");
      this.axis = 0;
      this.tools();
      this.open(0);
      this.listen();
    }

    // What the view is, in few words for the address; nothing where it is as it was at first.
    get state() {
      const state = new URLSearchParams();
      if (this.choice > 0) state.set("iteration", this.choice);
      if (this.axis > 0) state.set("view", this.ax.view ?? "whole");
      const us = (at) => Number((at * this.picture.tick).toFixed(3));
      if (this.to - this.from < this.ax.width) {
        state.set("from", us(this.from));
        state.set("to", us(this.to));
      }
      if (this.cpu !== (this.ax.slow ?? this.picture.axes[0].slow)) state.set("cpu", this.cpu);
      return state.toString();
    }

    set state(text) {
      const state = new URLSearchParams(text);
      const choice = Math.trunc(Number(state.get("iteration")));
      this.axis = 0;
      this.open(this.choices[choice] ? choice : 0);
      const view = this.picture.axes.findIndex((axis) => (axis.view ?? "whole") === state.get("view"));
      if (view > 0) {
        this.axis = view;
        this.fit();
      }
      const [from, to] = [state.get("from"), state.get("to")].map((us) => Number(us ?? NaN) / this.picture.tick);
      if (to > from) this.view(from, Math.min(to - from, this.ax.width));
      const lane = this.byCpu.get(Number(state.get("cpu") ?? NaN));
      if (lane !== undefined) this.choose(lane);
    }

    tools() {
      const tools = document.createElement("div");
      tools.className = "tools";
      const set = (...buttons) => {
        const box = document.createElement("span");
        box.className = "set";
        box.append(...buttons);
        tools.append(box);
      };
      const button = (text, label, act) => {
        const made = document.createElement("button");
        made.type = "button";
        made.textContent = text;
        if (label) made.setAttribute("aria-label", label);
        made.addEventListener("click", act);
        return made;
      };
      this.axisButtons = this.choices[0].picture.axes.map((axis, index) =>
        button(axis.title, "", () => {
          this.axis = index;
          this.fit();
          address.save();
        }),
      );
      set(...this.axisButtons);
      set(
        button("\u2212", "Zoom out", () => this.zoom(1.6)),
        button("+", "Zoom in", () => this.zoom(1 / 1.6)),
        button("Fit", "Fit the whole", () => {
          this.fit();
          address.save();
        }),
      );
      if (this.choices.length > 1) {
        const select = document.createElement("select");
        this.select = select;
        select.setAttribute("aria-label", "Iteration");
        for (const [index, choice] of this.choices.entries()) select.add(new Option(choice.title, index));
        select.addEventListener("change", () => {
          this.open(Number(select.value));
          address.save();
        });
        tools.append(select);
      }
      const hint = document.createElement("span");
      hint.className = "hint";
      hint.textContent =
        "Drag to pan; Ctrl and wheel to zoom (after a click the wheel alone). Keys: + and \u2212, arrows, 0 to fit, comma and full stop from span to span.";
      tools.append(hint);
      this.root.prepend(tools);
    }

    open(choice) {
      this.choice = choice;
      if (this.select) this.select.value = choice;
      const scales = this.picture?.axes.length;
      this.picture = this.pictures[choice] ??= unpack(this.choices[choice].picture);
      if (scales && this.axis >= this.picture.axes.length) this.axis = 0;
      this.byCpu = new Map(this.picture.lanes.map((lane, index) => [lane.place, index]));
      this.names.replaceChildren(
        ...this.picture.lanes.map((lane, index) => {
          const item = document.createElement("li");
          const name = document.createElement("button");
          name.type = "button";
          name.innerHTML = `<b>${escaped(lane.name)}</b> <span>${escaped(lane.sub)}</span>`;
          name.title = lane.place < 0 ? "" : "Show the critical path of this CPU";
          name.addEventListener("click", () => {
            this.choose(index);
            address.save();
          });
          item.append(name);
          return item;
        }),
      );
      this.fit();
    }

    get ax() {
      return this.picture.axes[this.axis];
    }

    fit() {
      const ax = this.ax;
      [this.from, this.to] = [0, ax.width];
      this.cpu = ax.slow ?? this.picture.axes[0].slow;
      this.picked = null;
      for (const [index, button] of this.axisButtons.entries())
        button.setAttribute("aria-pressed", index === this.axis);
      // What is told above belongs to the view.
      const view = ax.view ?? this.picture.axes[0].view;
      for (const told of this.article?.querySelectorAll(".told") ?? [])
        told.hidden = told.dataset.view !== view || Number(told.dataset.iteration) !== this.choice;
      this.draw();
      this.say();
    }

    // Adds the measured views as they are printed: whole, at a width that fits on paper.
    print() {
      const { state } = this;
      this.choices.forEach(({ picture }, choice) => {
        picture.axes.forEach(({ slow }, axis) => {
          // Of the worst iteration what the case is about; of the median the rest as well.
          if (slow === null || choice * axis) return;
          this.axis = axis;
          this.open(choice);
          this.draw(580);
          const printed = this.drawn.cloneNode(true);
          printed.className = "printed";
          this.detail.before(printed);
        });
      });
      this.state = state;
    }

    // Times as wide as `factor` times the present view, around a place from 0 to 1 in it.
    zoom(factor, around = 0.5) {
      const [width, all] = [this.to - this.from, this.ax.width];
      const wide = Math.min(all, Math.max(Math.min(all, 5), width * factor));
      const centre = this.from + width * around;
      this.view(centre - wide * around, wide);
    }

    pan(share) {
      const width = this.to - this.from;
      this.view(this.from + width * share, width);
    }

    view(from, width) {
      this.from = Math.max(0, Math.min(from, this.ax.width - width));
      this.to = this.from + width;
      this.later();
      address.saveLater();
    }

    // One drawing a frame, however many events ask for one.
    later() {
      if (this.waiting) return;
      this.waiting = requestAnimationFrame(() => {
        this.waiting = 0;
        this.draw();
      });
    }

    choose(index) {
      const lane = this.picture.lanes[index];
      if (!lane) return;
      this.lane = index;
      if (lane.place >= 0) this.cpu = lane.place;
      this.draw();
      this.say();
    }

    cpuName(cpu) {
      const lane = this.byCpu.get(cpu);
      return lane === undefined ? (this.picture.names[cpu] ?? `CPU ${cpu}`) : this.picture.lanes[lane].name;
    }

    // What stands for {} in the words of a span.
    named(span) {
      if (span.holder !== null) return this.cpuName(span.holder);
      return KINDS[span.what].namesCpu ? this.cpuName(span.more) : span.more;
    }

    word(span) {
      return KINDS[span.what].words.replace("{}", this.named(span));
    }

    labels(span) {
      const { labels, waitingLabels } = KINDS[span.what];
      return (span.holder === null ? labels : waitingLabels).map((label) => label.replace("{}", this.named(span)));
    }

    draw(width = this.svg.clientWidth || 600) {
      const { picture, ax, svg } = this;
      const height = AXIS + LANE * picture.lanes.length;
      const scale = width / (this.to - this.from);
      const x = (tick) => (ax.place(tick) - this.from) * scale;
      const out = [];
      this.ruler(out, x, width, height, scale);
      // Lines come before the bars, so that none crosses a label.
      this.arrows(out, x, width);
      this.path(out, x);
      picture.lanes.forEach((lane, index) => {
        const top = AXIS + index * LANE;
        let dense = -1;
        for (let i = search(lane.spans, (span) => x(span.to) < 0); i < lane.spans.length; i++) {
          const span = lane.spans[i];
          let [left, right] = [x(span.from), x(span.to)];
          if (left > width) break;
          if (!ax.shows(span.from, span.to)) continue;
          // What is too thin is drawn once for each pixel.
          if (right - left < 0.5) {
            if (Math.floor(left) === dense) continue;
            dense = Math.floor(left);
            right = left + 0.7;
          }
          left = Math.max(left, -4);
          right = Math.min(right, width + 4);
          const kind = KINDS[span.what];
          if (kind.form === "flat")
            out.push(
              `<rect class="${kind.class}" x="${px(left)}" y="${top + 16}" width="${px(right - left)}" height="2"/>`,
            );
          else if (kind.form === "line")
            out.push(
              `<line class="${kind.class}" x1="${px(left)}" x2="${px(right)}" y1="${top + 17}" y2="${top + 17}"/>`,
            );
          else {
            out.push(
              `<rect class="${kind.class}" data-at="${index},${i}" x="${px(left)}" y="${top + BAR}" width="${px(right - left)}" height="${HIGH}"/>`,
            );
            const [seenLeft, seenRight] = [Math.max(left, 0), Math.min(right, width)];
            const label = this.labels(span).find(
              (text) => text.length * LETTER + (text.length === 1 ? 4 : kind.margin) <= seenRight - seenLeft,
            );
            if (label) {
              const middle = px((seenLeft + seenRight) / 2);
              if (!kind.lightLabel) out.push(pill(label, middle, top + BAR));
              out.push(
                `<text class="${kind.lightLabel ? "on-dark" : "on-light"}" x="${middle}" y="${top + 21}">${escaped(label)}</text>`,
              );
            }
          }
          if (this.picked === span)
            out.push(
              `<rect class="picked" x="${px(left)}" y="${top + BAR - 1}" width="${px(right - left)}" height="${HIGH + 2}"/>`,
            );
        }
        if (ax.slow === null) {
          for (const call of lane.calls) {
            const [left, right] = [Math.max(0, x(call.from)), Math.min(width, x(call.to))];
            if (right > left && right - left > call.name.length * 5.6)
              out.push(`<text class="call" x="${px(left)}" y="${top + 6}">${escaped(call.name)}</text>`);
          }
        }
      });
      svg.setAttribute("height", height);
      svg.setAttribute("aria-label", `${ax.title}: ${picture.lanes.length} lanes, ${this.range()}`);
      svg.innerHTML = out.join("");
      svg.dataset.from = this.from;
      svg.dataset.to = this.to;
      for (const [index, item] of [...this.names.children].entries()) {
        item.classList.toggle("chosen", picture.lanes[index].place === this.cpu);
      }
      this.title.innerHTML = `<b>${escaped(ax.title)}</b>, ${escaped(this.choices[this.choice].title)}; view: ${this.range()}${this.paths()[this.cpu] ? `; critical path of ${escaped(this.cpuName(this.cpu))}` : ""}`;
    }

    range() {
      const { tick } = this.picture;
      const shown = (this.to - this.from) * tick;
      return this.to - this.from >= this.ax.width ? `all, ${figure(shown)} us` : `${figure(shown)} us wide`;
    }

    ruler(out, x, width, height, scale) {
      const {
        ax,
        picture: { tick },
      } = this;
      const least = ((this.to - this.from) * tick) / Math.max(3, width / 90);
      let power = 1e-3;
      while (power * 10 <= least) power *= 10;
      const step = [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least);
      const since = (at) => (at - ax.zero) * tick;
      let free = 0;
      // A label ends before its stretch of time does; the first of a stretch may be wider than that, and the next waits.
      const label = (place, us, end) => {
        const text = time(us, step);
        if (place < free || place + text.length * LETTER + 6 > end) return;
        out.push(`<text class="tick" x="${px(place + 3)}" y="14">${text}</text>`);
        free = place + text.length * LETTER + 12;
      };
      ax.kept.forEach(([from, to], index) => {
        const [left, right] = [x(from), x(to)];
        if (index > 0) {
          const middle = left - (ax.fold * scale) / 2;
          if (middle >= 0 && middle <= width)
            out.push(`<line class="fold" x1="${px(middle)}" x2="${px(middle)}" y1="${AXIS}" y2="${height}"/>`);
        }
        if (right < 0 || left > width) return;
        // Only what is in view, so that a far zoom does not walk from the beginning.
        const seen = since(from) + Math.max(0, -left / scale) * tick;
        const first = Math.max(0, Math.ceil(seen / step));
        const last = Math.floor(Math.min(since(to), since(from) + ((width - left) / scale) * tick) / step);
        if (last < first && left >= 0) label(left, since(from), width);
        for (let n = first; n <= last && n < first + 200; n++) {
          const place = x(ax.zero + (n * step) / tick);
          out.push(`<line class="grid" x1="${px(place)}" x2="${px(place)}" y1="${AXIS - 4}" y2="${height}"/>`);
          label(place, n * step, n === first ? width : Math.min(right, width));
        }
      });
    }

    arrows(out, x, width) {
      const { picture, ax } = this;
      picture.lanes.forEach((lane, index) => {
        for (const span of lane.spans) {
          if (span.holder === null || !ax.shows(span.from, span.to)) continue;
          const end = x(span.to);
          if (end < 0 || end > width || end - x(span.from) < 7) continue;
          const target = this.byCpu.get(KINDS[span.what].toScp ? -1 - span.on : span.holder);
          if (target === undefined || target === index) continue;
          const edge = (lane, lower) => AXIS + lane * LANE + BAR + (lower ? HIGH : 0);
          const down = target > index;
          out.push(
            `<line class="wait" x1="${px(end)}" x2="${px(end)}" y1="${edge(index, down)}" y2="${edge(target, !down)}"/><circle class="waiter" cx="${px(end)}" cy="${edge(index, down)}" r="2"/>`,
          );
        }
      });
    }

    path(out, x) {
      const paths = this.paths()[this.cpu];
      if (!paths) return;
      let [at, before] = [paths[0], -1];
      for (let i = 1; i < paths.length; i += 3) {
        const [lane, length] = [paths[i], paths[i + 1]];
        if (lane >= 0) {
          const y = AXIS + lane * LANE + PATH;
          const [left, right] = [x(at), x(at + length)];
          if (before >= 0 && before !== lane)
            out.push(
              `<line class="hop" x1="${px(left)}" x2="${px(left)}" y1="${AXIS + before * LANE + PATH}" y2="${y}"/>`,
            );
          out.push(`<line class="path" x1="${px(left)}" x2="${px(right)}" y1="${y}" y2="${y}"/>`);
          before = lane;
        }
        at += length;
      }
      if (before >= 0)
        out.push(`<circle class="path-end" cx="${px(x(at))}" cy="${AXIS + before * LANE + PATH}" r="3.5"/>`);
    }

    // The panel says what is picked; without that, whose path is drawn.
    say() {
      const span = this.picked;
      if (!span) {
        this.detail.textContent = this.summary();
        return;
      }
      const { tick, lanes } = this.picture;
      const lane = lanes[span.lane];
      const since = (t) => `${figure((t - this.ax.zero) * tick)} us`;
      const call = lane.calls.find((call) => call.from <= span.from && call.to >= span.to);
      let text = `${lane.name}${lane.sub ? ` (${lane.sub})` : ""}: ${this.word(span)}, ${figure((span.to - span.from) * tick)} us, from ${since(span.from)} to ${since(span.to)}`;
      if (span.holder !== null)
        text += `; ${KINDS[span.what].waitingWords.replace("{}", this.cpuName(span.holder)).replace("#", span.on)}`;
      if (call) text += `; in ${call.name}`;
      this.detail.textContent = `${text}.`;
    }

    // What the chosen CPU's time went to, longest first.
    summary() {
      const path = this.paths()[this.cpu];
      const lane = this.picture.lanes[this.byCpu.get(this.cpu)];
      if (!path || !lane) return "Point at a span for its figures; click a CPU's name for its critical path.";
      let to = path[0];
      for (let i = 2; i < path.length; i += 3) to += path[i];
      const sums = new Map();
      for (const span of lane.spans) {
        if (span.from >= path[0] && span.to <= to && KINDS[span.what].isCause)
          sums.set(span.what, (sums.get(span.what) || 0) + span.to - span.from);
      }
      const { tick } = this.picture;
      const parts = [...sums]
        .sort((a, b) => b[1] - a[1])
        .map(([what, ticks]) => `${KINDS[what].words} ${figure(ticks * tick)}`);
      return `${lane.name}: ${figure((to - path[0]) * tick)} us = ${parts.join(" + ")}. The heavy line is its critical path; click a CPU's name for that one's.`;
    }

    // Critical paths by CPU; the whole iteration shows those of what the case is about.
    paths() {
      return (this.ax.slow === null ? this.picture.axes[0] : this.ax).paths;
    }

    pick(span) {
      if (this.picked === span) return;
      this.picked = span;
      this.later();
      this.say();
    }

    // The next or previous span of the lane, brought into view.
    step(by) {
      const lane = this.picked ? this.picked.lane : (this.lane ?? this.byCpu.get(this.cpu) ?? 0);
      const spans = this.picture.lanes[lane].spans.filter((span) => this.ax.shows(span.from, span.to));
      if (!spans.length) return;
      const now = spans.indexOf(this.picked);
      const span = spans[Math.max(0, Math.min(spans.length - 1, now < 0 ? 0 : now + by))];
      const [from, to] = [this.ax.place(span.from), this.ax.place(span.to)];
      const width = this.to - this.from;
      if (to < this.from || from > this.to) this.view((from + to - width) / 2, width);
      this.pick(span);
    }

    listen() {
      const { svg } = this;
      // A place of the window as a share of the picture's width.
      const share = (x) => (x - svg.getBoundingClientRect().left) / svg.clientWidth;
      svg.addEventListener(
        "wheel",
        (event) => {
          const across = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
          const focused = document.activeElement === svg;
          if (across) {
            event.preventDefault();
            this.pan((event.deltaX || event.deltaY) / 800);
            return;
          }
          // A page that scrolls must not be caught by a picture that it passes.
          if (!focused && !event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 150), share(event.clientX));
        },
        { passive: false },
      );

      const pointers = new Map();
      let moved = false;
      svg.addEventListener("pointerdown", (event) => {
        pointers.set(event.pointerId, event.clientX);
        moved = pointers.size > 1;
        // What a finger touched goes with the next drawing, so two fingers are the drawing's own.
        if (moved) for (const id of pointers.keys()) svg.setPointerCapture(id);
      });
      svg.addEventListener("pointermove", (event) => {
        const before = pointers.get(event.pointerId);
        if (before === undefined) {
          const at = event.target.dataset?.at;
          if (at) {
            const [lane, span] = at.split(",").map(Number);
            this.pick(this.picture.lanes[lane].spans[span]);
          }
          return;
        }
        if (pointers.size === 2) {
          const others = () => [...pointers.values()];
          const gap = Math.abs(others()[0] - others()[1]);
          pointers.set(event.pointerId, event.clientX);
          const now = Math.abs(others()[0] - others()[1]);
          if (gap > 10 && now > 10) this.zoom(gap / now, share((others()[0] + others()[1]) / 2));
          return;
        }
        if (!moved && Math.abs(event.clientX - before) < 3) return;
        if (!moved) {
          moved = true;
          svg.setPointerCapture(event.pointerId);
          svg.classList.add("dragging");
        }
        pointers.set(event.pointerId, event.clientX);
        this.pan((before - event.clientX) / svg.clientWidth);
      });
      const up = (event) => {
        pointers.delete(event.pointerId);
        svg.classList.remove("dragging");
      };
      svg.addEventListener("pointerup", up);
      svg.addEventListener("pointercancel", up);
      svg.addEventListener("pointerleave", (event) => {
        if (!svg.hasPointerCapture(event.pointerId)) up(event);
      });
      svg.addEventListener("click", (event) => {
        const at = event.target.dataset?.at;
        if (at && !moved) {
          this.choose(Number(at.split(",")[0]));
          address.save();
        }
      });
      svg.addEventListener("dblclick", (event) => this.zoom(0.5, share(event.clientX)));

      svg.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const lanes = this.picture.lanes.length;
        const lane = this.lane ?? this.byCpu.get(this.cpu) ?? 0;
        const act = {
          "+": () => this.zoom(1 / 1.6),
          "=": () => this.zoom(1 / 1.6),
          "-": () => this.zoom(1.6),
          0: () => this.fit(),
          Home: () => this.fit(),
          ArrowLeft: () => this.pan(-0.2),
          ArrowRight: () => this.pan(0.2),
          ArrowUp: () => {
            this.picked = null;
            this.choose(Math.max(0, lane - 1));
          },
          ArrowDown: () => {
            this.picked = null;
            this.choose(Math.min(lanes - 1, lane + 1));
          },
          ".": () => this.step(1),
          ",": () => this.step(-1),
          Escape: () => {
            this.pick(null);
          },
        }[event.key];
        if (act) {
          event.preventDefault();
          act();
          address.saveLater();
        }
      });
      new ResizeObserver(() => this.later()).observe(this.stage);
    }
  }

  // Timelines that are alive, by the case.
  const alive = new Map();
  const wake = (root) => {
    const name = root.dataset.timeline;
    if (!alive.has(name)) alive.set(name, new Timeline(root));
    return alive.get(name);
  };
  // A timeline comes to life when it is near the screen.
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) {
          near.unobserve(entry.target);
          wake(entry.target);
        }
      }
    },
    { rootMargin: "600px" },
  );
  const roots = document.querySelectorAll("[data-timeline]");
  for (const root of roots) near.observe(root);
  addEventListener("beforeprint", () => {
    for (const root of roots) wake(root).print();
  });
  addEventListener("afterprint", () => {
    for (const printed of document.querySelectorAll(".printed")) printed.remove();
  });

  address.follow();
  addEventListener("popstate", (event) => (event.state ? address.apply(event.state) : address.follow()));
})();

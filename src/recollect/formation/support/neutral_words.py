"""
Neutral words: paraphrases may add them, as they claim nothing that needs support.

Grammar, reporting ("says that the user …"), planning, time and degree, and nouns that only classify
("topic", "details"). Words that could negate a statement, judge a person or report an action are
not included: those need support.
"""

from typing import Final

ENGLISH: Final = frozenset(
    """
    a an the and or but nor so as at by for from in into of off on onto out over to up with within
    about above across after against along among around before behind below beneath beside besides
    between beyond down during inside near outside past per since through throughout till toward
    towards under until upon via versus vs be am is are was were been being do does did done doing
    have has had having can could may might must shall should will would ought i me my mine myself
    you your yours yourself he him his himself she her hers herself it its itself we us our ours
    they them their theirs themselves who whom whose which what where when why how that this these
    those there here then than if whether because though although while whereas unless despite
    however therefore thus hence also too very quite rather really just even still yet already
    almost nearly approximately approx roughly circa only mainly mostly chiefly generally usually
    often regularly frequently sometimes occasionally currently presently now today tonight
    tomorrow yesterday recently lately soon later earlier once twice again instead together apart
    away back forward ahead each every all both either some any many much more most few fewer less
    least several enough such same other another else own one ones two three first second third
    next last new newly upcoming coming following previous previously former formerly current
    early late long short big small large little great good well better best full whole half part
    main certain particular specific special general different various possible likely available
    able due need needs needed want wants wanted wish wishes wished plan plans planned planning
    intend intends intended intention aim aims aimed hope hopes hoped expect expects expected try
    tries tried trying seek seeks seeking look looks looking search searches searching consider
    considers considering considered think thinks thought thinking believe believes believed feel
    feels felt feeling find finds found finding know knows knew known say says said saying state
    states stated tell tells told mention mentions mentioned report reports reported describe
    describes described express expresses expressed ask asks asked asking request requests
    requested question questions answer answers answered explain explains explained note notes
    noted discuss discusses discussed discussion talk talks talked talking speak speaks
    conversation conversations chat decide decides decided deciding decision choose chooses chose
    chosen choosing choice choices pick picks picked agree agrees agreed accept accepts accepted
    suggest suggests suggested suggestion suggestions suggesting recommend recommends recommended
    recommendation recommendations recommending advice advise advises help helps helped helping
    support use uses used using user users person people someone somebody anyone everybody
    everyone something anything everything thing things stuff matter matters way ways kind kinds
    sort type types get gets got getting give gives gave given giving take takes took taken taking
    make makes made making keep keeps kept keeping put puts bring brings brought go goes went gone
    going come comes came become becomes became start starts started starting begin begins began
    beginning continue continues continued happen happens happened involve involves involved
    include includes included including concern concerns concerning regard regarding relate
    relates related show shows showed shown see sees saw seen seeing seem seems appear appears
    remain remains set sets run runs work works worked working owns owned possess possesses live
    lives lived living stay stays reside resides located location based area place places home
    house called named name names time times date dates day days daily week weeks weekly weekend
    month months monthly year years yearly hour hours minute minutes moment morning mornings
    afternoon evening evenings night nights noon midday midnight period duration age aged old
    time-frame schedule scheduled arrangement arrangements arrange arranged appointment
    appointments event events occasion occasions detail details information info topic topics
    subject subjects issue issues point points reason reasons purpose goal goals background
    context case cases situation situations status example examples option options idea ideas
    preference preferences preferred style format tone language personal personally interest
    interests interested hobby hobbies activity activities habit habits routine routines job jobs
    occupation profession career role life profile member members family relative relatives
    relationship household contact contacts friend friends thanks please yes ok okay pm e.g i.e
    etc like unlike according total amount number numbers level rate assistant reply replies
    response responses message messages content contents whichever whenever wherever whatever
    somewhat exactly particularly especially specifically additionally furthermore moreover
    otherwise likewise eventually finally initially originally temporarily permanently onwards
    afterwards beforehand meanwhile simultaneously self themself let lets lot lots bit sure fully
    partly partially january february march april june july august september october november
    december monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
    mr mrs ms dr don't doesn't didn't isn't aren't wasn't weren't can't cannot couldn't won't
    wouldn't shouldn't hasn't haven't hadn't mustn't i'm i've i'd i'll you're you've they're
    they've we're we've he'll she'll it'll that's there's what's who's let's not no never none
    neither without easily easy easier directly straight entire entirely completely phrase phrases
    expressing supports supporting supportive encourage encourages encouraged encouraging
    encouragement offer offers offered offering provide provides provided providing cause causes
    caused causing result results resulted resulting receive receives received appreciate
    appreciates appreciated appreciating gratitude grateful thankful acknowledge acknowledges
    acknowledged positive negative feedback progress nature multiple numerous manage manages
    managing handle handles handling deal deals dealing inquire inquires inquired refer refers
    referred face faces faced facing experience experiences experienced experiencing attend
    attends attended attending participate participates create creates created creating develop
    develops developing improve improves improved improving enable enables allow allows allowed
    allowing lead leads led require requires required requiring remind reminds reminded meet meets
    met meeting share shares shared sharing learn learns learned learning future present enjoyable
    exciting excited inspiring inspired overwhelming overwhelmed student picture compliment
    compliments complimented comment comments impact value values valued unconfirmed uncertain
    unsure confirmed tentative tentatively apparently reportedly allegedly supposedly presumably
    probably perhaps maybe unverified undecided lack lacks lacking lacked open opens opened close
    closes closed
    """.split()
)

CHINESE: Final = frozenset(
    """
    用户 使用者 本人 自己 对方 助手 助理 大家 有人 别人 他人 人们 目前 现在 当前 如今 近期 最近
    近来 日前 之前 以前 此前 先前 之后 以后 此后 今后 将来 未来 后来 随后 期间 时候 时间 时段 时刻
    当时 届时 平时 平常 日常 通常 一般 经常 常常 时常 往往 偶尔 有时 一直 始终 仍然 仍旧 依然 依旧
    还是 已经 已 曾经 曾 刚刚 刚才 刚 正在 正 将要 即将 马上 立刻 暂时 临时 长期 短期 定期 每天
    每日 每周 每月 每年 每次 每晚 每个 今天 明天 昨天 后天 前天 今日 明日 昨日 今年 去年 明年 上周
    下周 本周 这周 周末 本月 上月 下月 早上 上午 中午 下午 晚上 傍晚 凌晨 清晨 早晨 夜里 半夜 白天
    星期 礼拜 分钟 小时 钟头 春天 夏天 秋天 冬天 计划 打算 准备 希望 想要 想 愿意 需要 需 须 要求
    请求 要 会 能 能够 可以 可 应该 应当 必须 得 尽量 尽可能 尽早 考虑 决定 选择 选定 选 觉得 认为
    以为 感到 感觉 表示 提到 提及 说明 说 称 指出 透露 介绍 告诉 告知 询问 咨询 问 回答 答复 回复
    解释 讨论 谈到 谈论 聊 聊天 对话 交流 沟通 交谈 讲 讲解 知道 了解 得知 发现 看到 看 听 找 寻找
    想找 希望能 建议 推荐 提供 给出 给予 帮助 帮忙 帮 协助 支持 使用 采用 用 利用 进行 进行中 开始
    起 继续 完成 处理 安排 相关 有关 关于 涉及 方面 话题 主题 内容 信息 资料 情况 状况 状态 背景
    原因 事情 事 事项 问题 方式 方法 方案 方向 类型 种类 类 程度 部分 主要 其中 其他 其余 其它
    另外 另 此外 以及 还有 还 也 又 再 并且 并 而且 而 且 同时 因此 因而 因为 由于 所以 于是 但是
    但 不过 然而 虽然 尽管 如果 若 如 假如 只要 只有 除非 无论 即使 按照 根据 据 依照 通过 经过
    对于 至于 例如 比如 等等 等 之类 左右 大约 大概 约 约为 近 将近 接近 多 余 超过 至少 至多 最多
    最少 比较 较 更 更加 更为 最 很 非常 十分 特别 相当 有点 有些 一些 一点 稍微 略 都 全部 全
    所有 整个 完全 只 仅 仅仅 才 就 便 即 也许 真的 确实 其实 实际 具体 明确 一起 共同 共 一共
    总共 合计 分别 各 各自 互相 一个 一名 一位 一种 一次 一只 一辆 一家 一间 一份 一套 一台 一款
    两个 几个 第一 第二 首次 再次 多次 新 旧 老 大 小 高 低 长 短 好 较好 不错 从 自 由 在 到 至
    往 向 朝 对 给 与 和 跟 同 及 或 或者 为 为了 以 以便 将 把 被 让 使 令 请 叫 的 地 了 着 过
    吗 呢 吧 啊 是 有 之 所 其 该 此 这 那 这个 那个 这些 那些 这里 那里 这样 那样 它 他 她 我 你
    您 他们 她们 它们 我们 你们 咱们 谁 什么 怎么 怎样 如何 哪 哪里 哪些 多少 几 个 位 名 条 件 张
    台 辆 家 间 份 套 款 次 回 年 月 日 号 周 天 时 点 分 点钟 岁 元 块 人 者 们 上 下 里 内 外 中
    前 后 旁 边 处 方 来 去 出 入 进 起来 下来 上来 出来 过来 过去 下去 正式 名叫 叫做 名为 姓名
    名字 称呼 职业 工作 从事 任职 担任 就职 居住 住 住在 家里 家中 家人 家庭 生活 兴趣 爱好 习惯
    偏好 风格 语气 格式 语言 简介 个人 拥有 属于 位于 前往 去往 参加 参与 出席 购买 买 获得 得到
    收到 拿到 取得 做 作 作为 成为 当 变 变成 改 改为 改成 换 换成 调整 更新 更改 尚未 证实 未经
    确认 未定 不明 待定 真假 确定 暂定 据说 听说 传闻 属实 核实 不详 希望不大 场合 场景 情境 话
    提醒 备注 记录 记得 注意 留意 日期 地点 金额 数量 价格 费用 名称 号码 时长 频率 目标 目的 结果
    效果 影响 经历 经验 过程 进展 阶段 时期 机会 条件 环境 范围 领域 对象 朋友 亲友 亲属 亲人 成员
    关系
    """.split()
)

OTHERS: Final = frozenset(
    """
    der die das den dem des ein eine einen einem einer eines und oder aber mit ohne von vom zu zum
    zur im am an auf aus bei beim bis durch fur gegen nach seit uber um unter vor zwischen ist
    sind war waren wird werden wurde hat haben hatte habe ich du er sie es wir ihr mich mir dich
    dir ihn ihm uns euch mein meine meinen meinem meiner dein deine sein seine seinen seinem
    seiner ihre ihren ihrem ihrer unser unsere unserem unserer nutzer nutzerin benutzer person man
    sich dass ob wenn als wie was wer wo auch noch schon nur sehr etwa circa ca gern gerne mehr
    viel jetzt heute morgen gestern derzeit aktuell bitte soll sollen mochte will kann konnen darf
    muss mussen da so denn weil jeden jede jeder jedes tag tage woche wochen monat monate jahr
    jahre uhr mal laut bzw plant geplant sagt gibt machen macht el la los las un una unos unas y o
    u e pero con sin de del al a en por para desde hasta sobre entre son era eran fue ser esta
    estan estaba ha han he habia hay tiene tienen tengo yo tu ella nosotros ellos ellas me te se
    nos le les lo mi mis su sus nuestro nuestra usuario usuaria persona que si como cuando donde
    quien cual muy mas menos ya tambien solo ahora hoy manana ayer dia dias semana semanas mes
    meses ano anos hora horas quiere quiero debe puede hacer hace dice segun cada todo toda todos
    todas une et ou mais avec sans au aux dans par pour depuis jusqu sur sous est sont etait ete
    etre ont avait il elle ils elles je nous vous on lui leur mon ma ton ta sa ses notre votre
    utilisateur utilisatrice personne qui quoi dont comme quand tres plus moins deja aussi
    seulement maintenant aujourd hui demain hier jour jours semaine semaines mois ans annee heure
    heures veut doit peut faire fait dit selon chaque tout toute tous toutes prevu prevue os as
    uma umas com sem do dos no na nas ao aos pelo pela ate eh foi estao tem tinha eu voce ele ela
    eles elas seu sua seus suas meu minha pessoa quando onde quem muito ja tambem agora hoje
    amanha ontem quer deve pode fazer faz diz gli i uno ed anche non-e senza di della dei delle
    dal dalla nel nella sul sulla per tra fra sono stato essere hanno aveva io lei noi loro ti ci
    mio mia suo utente che come dove chi molto piu meno gia ora oggi domani ieri giorno giorni
    settimana mese mesi anno anni ore vuole puo fare fa ogni tutto tutta het een of maar met
    zonder van naar op aan bij uit voor over om is zijn wordt heeft hebben had ik jij hij zij wij
    hen mij hem haar ons mijn jouw hun gebruiker persoon dat wat waar ook nog alleen zeer meer
    minder nu vandaag gisteren dag week maand jaar uur wil moet kan ユーザー 利用者 本人 自分 今日
    明日 昨日 予定 希望 最近 現在 時間 時 年 月 日 週 人 的 者 中 前 後 方 事 物
    """.split()
)
"""Grammar of some languages of which nothing else is known here, folded; and Japanese nouns."""
